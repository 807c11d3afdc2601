# SPDX-License-Identifier: MIT
"""Blocks for datatrove's pipelines: remove near-duplicates from documents, in two passes with a step between them.

    from pagededup.datatrove import Decide, Remove, Sign
    LocalPipelineExecutor([reader, Sign("rows")], tasks=8).run()
    LocalPipelineExecutor([Decide("rows")], tasks=1).run()
    LocalPipelineExecutor([reader, Remove("rows"), writer], tasks=8).run()

Both passes need the same reader and the same number of tasks: a document is identified by its task and its position there, as with
datatrove's MinhashDedupFilter.  All tasks must be able to access the folder; it needs about 400 bytes per document.
"""
from __future__ import annotations

import contextlib
import os
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Union

import numpy as np
import pyarrow as pa
from datatrove.pipeline.base import PipelineStep
from datatrove.utils.typeshelper import StatHints

from ._api import PathLike, Signer, cluster, match


def _path(folder: PathLike, rank: int, kind: str) -> str:
    return os.path.join(os.fspath(folder), '%05d.%s' % (rank, kind))


class Sign(PipelineStep):  # type: ignore[misc]
    """Signs the documents of its task, and passes them on.

    signer: settings (Signer()).  content_type: of the documents, "text/plain" or "text/html".  batch: documents signed at a time."""

    type = '🫂 - DEDUP'
    name = '🎯 pagededup: sign'

    def __init__(self, folder: PathLike, signer: Optional[Signer] = None, content_type: str = 'text/plain', batch: int = 1000) -> None:
        super().__init__()
        self.folder, self.signer, self.content_type, self.batch = folder, signer or Signer(threads=1), content_type, batch

    def _rows(self, documents: List[Any]) -> pa.Table:
        urls = [d.metadata.get('url') for d in documents]
        return self.signer.sign_batch([d.text for d in documents], urls=urls, content_types=self.content_type)

    def run(self, data: Iterable[Any], rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        os.makedirs(self.folder, exist_ok=True)
        empty = self._rows([])
        waiting: List[Any] = []
        with pa.OSFile(_path(self.folder, rank, 'arrow'), 'wb') as out, pa.ipc.new_file(out, empty.schema) as rows:
            for document in data or ():
                self.stat_update(StatHints.total)
                waiting.append(document)
                if len(waiting) == self.batch:
                    with self.track_time():
                        rows.write_table(self._rows(waiting))
                    yield from waiting
                    waiting = []
            with self.track_time():
                rows.write_table(self._rows(waiting))
            yield from waiting


class Decide(PipelineStep):  # type: ignore[misc]
    """Read the output of the Sign tasks, and decide which documents to remove.  One task; keep, settings: as for
    `pagededup.cluster` and, with `match`, a dict, for `pagededup.match`."""

    type = '🫂 - DEDUP'
    name = '🎯 pagededup: decide'

    def __init__(self, folder: PathLike, keep: Union[str, Sequence[str], None] = None, match: Optional[Dict[str, Any]] = None, **settings: Any) -> None:
        super().__init__()
        self.folder, self.keep, self.match, self.settings = folder, keep, match or {}, settings

    def run(self, data: Any = None, rank: int = 0, world_size: int = 1) -> None:
        names = sorted(n for n in os.listdir(self.folder) if n.endswith('.arrow'))
        with self.track_time():
            parts = [pa.ipc.open_file(pa.memory_map(os.path.join(os.fspath(self.folder), n))).read_all() for n in names]
            table = pa.concat_tables(parts)
            verdicts = cluster(table, match(table, **self.match), self.keep, **self.settings)
            goes = np.zeros(table.num_rows, bool)
            if verdicts.num_rows:
                goes[verdicts.column('row').to_numpy()] = verdicts.column('is_duplicate').to_numpy() == 1
            self.stat_update(StatHints.total, value=table.num_rows)
            self.stat_update(StatHints.dropped, value=int(goes.sum()))
            begin = 0
            for name, part in zip(names, parts):
                goes[begin:begin + part.num_rows].tofile(_path(self.folder, int(name[:-6]), 'remove'))
                begin += part.num_rows


class Remove(PipelineStep):  # type: ignore[misc]
    """Pass on the kept documents; removed ones are passed to `exclusion_writer`, if there is one."""

    type = '🫂 - DEDUP'
    name = '🎯 pagededup: remove'

    def __init__(self, folder: PathLike, exclusion_writer: Any = None) -> None:
        super().__init__()
        self.folder, self.exclusion_writer = folder, exclusion_writer

    def run(self, data: Iterable[Any], rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        goes = np.fromfile(_path(self.folder, rank, 'remove'), bool)
        seen = 0
        with self.exclusion_writer or contextlib.nullcontext() as excluded:
            for document in data or ():
                seen += 1
                self.stat_update(StatHints.total)
                if seen > len(goes):
                    raise ValueError('task %d has more documents than were signed; use the same reader and the same number of tasks' % rank)
                self.stat_update(StatHints.dropped if goes[seen - 1] else StatHints.forwarded)
                if not goes[seen - 1]:
                    yield document
                elif excluded:
                    excluded.write(document, rank)
        if seen != len(goes):
            raise ValueError('task %d has %d documents, but %d were signed; use the same reader and the same number of tasks' % (rank, seen, len(goes)))
