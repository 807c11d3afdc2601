/* SPDX-License-Identifier: MIT
 *
 * An event is its head, the words of a label or of a reason, and a row of the list, padded to eight bytes: what follows a page's
 * events is aligned.
 */
#include "walk/inputs.h"

#include <inttypes.h>

#include "base/tsv.h"

struct head {
	uint32_t what, skip;
	uint32_t words, row;	/* bytes that follow */
};

static size_t padded(const struct head *h)
{
	return (sizeof *h + h->words + h->row + 7) & ~(size_t)7;
}

int pd_walk_inputs_open(struct pd_walk_inputs *in, const char *left_out, struct pd_err *e)
{
	*in = (struct pd_walk_inputs){ .lists = left_out != NULL, .list.slot = -1 };
	int status = left_out ? pd_outfile_open(&in->list, left_out, e) : PD_OK;
	if (!status && left_out)
		fputs("#id\turl\ttype\treason\n", in->list.f);
	return status;
}

static void add(struct pd_buf *out, struct head h, struct pd_span words, struct pd_span row)
{
	h.words = (uint32_t)words.n;
	h.row = (uint32_t)row.n;
	pd_buf_add(out, &h, sizeof h);
	pd_buf_add_span(out, words);
	pd_buf_add_span(out, row);
	pd_buf_add(out, "\0\0\0\0\0\0\0", padded(&h) - sizeof h - words.n - row.n);
}

void pd_walk_event_input(struct pd_buf *out, struct pd_span label)
{
	add(out, (struct head){ .what = PD_WALK_INPUT }, label, pd_span("", 0));
}

void pd_walk_event_left_out(struct pd_buf *out, enum pd_walk_event what, enum pd_skip skip, struct pd_span id, struct pd_span url,
			    struct pd_span type, struct pd_span reason)
{
	struct pd_buf row = { 0 };
	const struct pd_span cells[] = { id, url, type };
	for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
		pd_tsv_add(&row, cells[i]);
		pd_buf_add_c(&row, '\t');
	}
	if (what == PD_WALK_LEFT_OUT)
		pd_buf_printf(&row, "%s%s", pd_skip_name(skip), reason.n ? ": " : "");
	if (reason.n)
		pd_tsv_add(&row, reason);
	pd_buf_add_c(&row, '\n');
	add(out, (struct head){ .what = what, .skip = skip }, reason, pd_buf_span(&row));
	pd_buf_release(&row);
}

void pd_walk_event_page(struct pd_buf *out)
{
	add(out, (struct head){ .what = PD_WALK_PAGE }, pd_span("", 0), pd_span("", 0));
}

/* Not one page came of the records of the input, and nothing was said of it yet. */
static void tell_barren(struct pd_walk_inputs *in, uint64_t records, struct pd_log *log)
{
	struct pd_buf line = { 0 };
	const char *sep = " (";
	pd_buf_count(&line, records, "record");
	pd_buf_add_z(&line, " left out");
	for (int s = 0; s < PD_SKIP_COUNT; s++) {
		if (!in->skipped[s])
			continue;
		pd_buf_printf(&line, "%s%s %" PRIu64, sep, pd_skip_name((enum pd_skip)s), in->skipped[s]);
		sep = ", ";
	}
	pd_log_error(log, "%s: not one page: %s)%s%s", pd_buf_z(&in->label), line.p, in->why.n ? "; " : "", pd_buf_z(&in->why));
	pd_buf_release(&line);
}

/* An input with nothing in it is no failure: it is as good a dump as any other. */

static void close_input(struct pd_walk_inputs *in, struct pd_log *log)
{
	uint64_t records = 0;
	for (int s = 0; s < PD_SKIP_COUNT; s++)
		records += s == PD_SKIP_EMPTY ? 0 : in->skipped[s];
	if (in->open && !in->pages && !in->told && records) {
		in->barren++;
		tell_barren(in, records + in->skipped[PD_SKIP_EMPTY], log);
	} else if (in->open && !in->pages && !in->told) {
		pd_log_note(log, "%s: nothing to read in it", pd_buf_z(&in->label));
	}
	in->open = false;
}

static void open_input(struct pd_walk_inputs *in, struct pd_span label)
{
	in->open = label.n > 0;
	pd_buf_set(&in->label, label);
	pd_buf_clear(&in->why);
	in->pages = in->told = 0;
	memset(in->skipped, 0, sizeof in->skipped);
}

static void leave_out(struct pd_walk_inputs *in, const struct head *h, struct pd_span words, struct pd_span row)
{
	if (h->what == PD_WALK_LEFT_OUT) {
		in->skipped[h->skip]++;
		in->told += h->skip == PD_SKIP_DAMAGED;
		if (!in->why.n)
			pd_buf_set(&in->why, words);
	} else {
		in->told++;
	}
	if (in->lists)
		fwrite(row.p, 1, row.n, in->list.f);
}

bool pd_walk_inputs_take(struct pd_walk_inputs *in, struct pd_span *result, struct pd_log *log)
{
	struct head h;
	while (result->n >= sizeof h) {
		memcpy(&h, result->p, sizeof h);
		struct pd_span words = pd_span(result->p + sizeof h, h.words), row = pd_span(words.p + words.n, h.row);
		size_t n = padded(&h);
		*result = pd_span(result->p + n, result->n - n);
		if (h.what == PD_WALK_PAGE) {
			in->pages++;
			return true;
		}
		if (h.what == PD_WALK_INPUT) {
			close_input(in, log);
			open_input(in, words);
		} else {
			leave_out(in, &h, words, row);
		}
	}
	return false;
}

int pd_walk_inputs_end(struct pd_walk_inputs *in, struct pd_span events, struct pd_log *log, struct pd_err *e)
{
	pd_walk_inputs_take(in, &events, log);
	close_input(in, log);
	bool lists = in->lists;
	in->lists = false;
	return lists ? pd_outfile_commit(&in->list, e) : PD_OK;
}

void pd_walk_inputs_release(struct pd_walk_inputs *in)
{
	if (in->lists)
		pd_outfile_abandon(&in->list);
	in->lists = false;
	pd_buf_release(&in->label);
	pd_buf_release(&in->why);
}
