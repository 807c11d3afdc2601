# SPDX-License-Identifier: MIT
"""Near-duplicate web pages: fingerprints of main text, pairs, clusters, and a store that is kept between runs.

    signer = pagededup.Signer()
    table = signer.sign_batch(htmls, urls=urls)                 # an Arrow table, a row for each page
    pairs = pagededup.match(table)                              # numpy columns a, b, distance, similarity
    verdicts = pagededup.cluster(table, pairs, keep="longest")  # an Arrow table: who stays, who goes, why

Results are those of the command `pagededup` (fp, match, cluster, store), which comes with the package.  While the library works no
thread holds Python's global lock.  Tables are pyarrow tables whose columns lie where the library made them; whatever Arrow
converts (pandas, polars, a DuckDB result) goes in as well.
"""
from ._api import (Error, Learner, Page, Pairs, ParametersError, Signer, Store, UsageError, cluster, distance, match, read, table_text,
                   version)

__all__ = ['Error', 'Learner', 'Page', 'Pairs', 'ParametersError', 'Signer', 'Store', 'UsageError', 'cluster', 'distance', 'match',
           'read', 'table_text', 'version', '__version__']
__version__ = version()
