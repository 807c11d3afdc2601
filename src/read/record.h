/* SPDX-License-Identifier: MIT
 *
 * A record is what a dump holds: some bytes and where they lie.  The reader gives records; `page.h` makes pages of
 * them.  A record owns its buffers and is filled again and again.
 */
#ifndef PD_READ_RECORD_H
#define PD_READ_RECORD_H

#include "base/buf.h"

enum pd_record_kind {
	PD_RECORD_RESPONSE,	/* WARC response, ARC: `block` is a raw HTTP response */
	PD_RECORD_PAYLOAD,	/* WARC resource, a plain file, JSONL's html: `block` is the page itself */
	PD_RECORD_TEXT,		/* WARC conversion (WET), JSONL's text: `block` is plain text in UTF-8 */
	PD_RECORD_OTHER,	/* warcinfo, request, metadata, revisit, …: no page, block left empty */
};

struct pd_record {
	enum pd_record_kind kind;
	struct pd_buf id;		/* the one address of the page (docs/format-rows.md, Ids) */
	struct pd_buf url;		/* as the dump has it; the path of a plain file or of a member of tar */
	struct pd_buf fetch_time;	/* RFC 3339, may be empty */
	struct pd_buf digest;		/* WARC-Payload-Digest without "sha1:" when it is SHA-1 in base32, else empty */
	struct pd_buf user_id;		/* the row's own id (JSONL), may be empty */
	struct pd_buf content_type;	/* of the block, as the record says; may be empty */
	struct pd_buf address;		/* of the server, as the dump has it; may be empty */
	struct pd_buf header;		/* of WARC and ARC, as it stands; only where pd_read_dump.keep_header asks for it */
	struct pd_buf block;		/* at most the reader's limit */
	uint64_t length;		/* bytes of the block in the dump */
	bool html_only;			/* lay in a folder or an archive among other files: nothing but HTML is a page */
	bool cut;			/* block is shorter than length: over the limit */
};

void pd_record_clear(struct pd_record *r);
void pd_record_release(struct pd_record *r);

#endif
