/* SPDX-License-Identifier: MIT
 *
 * Adding and removing: memory first, then the log, which waits for pd_store_sync.
 */
#include "store/store.h"

static int append(struct pd_store *s, struct pd_buf *record, struct pd_err *e)
{
	int status = pd_io_append(&s->log, record->p, record->n, e);
	pd_buf_release(record);
	return status;
}

/* Pages that are gone from here on. */
static void let_go(struct pd_store *s, const uint64_t *gone, size_t n_gone)
{
	for (size_t i = 0; i < n_gone; i++) {
		pd_gone_add(&s->gone, gone[i]);
		pd_recent_drop(&s->recent, gone[i]);
	}
}

int pd_store_add(struct pd_store *s, const struct pd_store_page *page, const uint64_t *gone, size_t n_gone, uint64_t *number,
		 struct pd_err *e)
{
	struct pd_buf record = { 0 };
	int status = s->dirty ? pd_manifest_save(&s->m, &s->io, e) : PD_OK;
	if (status)
		return status;
	s->dirty = false;	/* what rows were made with is known before the first of them is */
	*number = s->m.next++;
	pd_log_add(s->m.log, s->log.size, *number, page, s->m.bits, gone, n_gone, &record);
	pd_recent_add(&s->recent, *number, page);
	let_go(s, gone, n_gone);
	return append(s, &record, e);
}

int pd_store_remove(struct pd_store *s, const uint64_t *gone, size_t n_gone, struct pd_err *e)
{
	struct pd_buf record = { 0 };
	pd_log_remove(s->m.log, s->log.size, gone, n_gone, &record);
	let_go(s, gone, n_gone);
	return append(s, &record, e);
}

int pd_store_sync(struct pd_store *s, struct pd_err *e)
{
	if (s->log.size == s->log_synced)
		return PD_OK;
	int status = pd_io_sync(&s->log, e);
	if (!status)
		s->log_synced = s->log.size;
	return status;
}
