/* SPDX-License-Identifier: MIT
 *
 * The format of a file; the program and the plug-in contain this.
 */
#include "base/parquet.h"

#include <string.h>

enum pd_parquet_form pd_parquet_form(const void *head, size_t n, bool *may)
{
	static const char parquet[] = "PAR1", file[] = "ARROW1", stream[] = "\xff\xff\xff\xff";
	if (may)
		*may = n < PD_FORM_HEAD;
	if (!n)
		return PD_FORM_OTHER;
	bool is_parquet = !memcmp(head, parquet, n < 4 ? n : 4), is_file = !memcmp(head, file, n < 6 ? n : 6);
	bool is_stream = !memcmp(head, stream, n < 4 ? n : 4);
	int32_t length = 0; /* of a stream's first message, its columns */
	if (is_stream && n >= 8)
		memcpy(&length, (const char *)head + 4, sizeof length);
	if (may && n < PD_FORM_HEAD)
		*may = (is_parquet || is_file || is_stream);
	if (n >= PD_FORM_HEAD)
		is_stream = is_stream && length > 0 && length < 1 << 28;
	return n < PD_FORM_HEAD	      ? PD_FORM_OTHER
	       : is_parquet	      ? PD_FORM_PARQUET
	       : is_file || is_stream ? PD_FORM_ARROW
				      : PD_FORM_OTHER;
}
