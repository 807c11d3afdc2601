/* SPDX-License-Identifier: MIT */
#include "topic/site_decide.h"

#include <stdlib.h>

/* A line of a page of the sample. */
struct pd_site_seen {
	uint64_t line, path;
	uint32_t page;		/* number in the order of contexts */
	bool repeated;
};

/* A path of a page of the sample. */
struct pd_site_vote {
	uint64_t path;
	uint32_t links;
};

struct pd_site_judge {
	struct pd_site_page *pages;	/* in the order of their contexts */
	struct pd_site_seen *seen;
	struct pd_site_vote *votes;
	uint64_t *lines, *paths;
	size_t n_pages, n_seen, n_votes, n_lines, n_paths;
	size_t cap_pages, cap_seen, cap_votes, cap_lines, cap_paths;
};

struct pd_site_judge *pd_site_judge_new(void)
{
	return pd_zalloc(sizeof(struct pd_site_judge));
}

void pd_site_judge_free(struct pd_site_judge *j)
{
	if (!j)
		return;
	free(j->pages);
	free(j->seen);
	free(j->votes);
	free(j->lines);
	free(j->paths);
	free(j);
}

static int by_context(const void *x, const void *y)
{
	const struct pd_site_page *a = x, *b = y;
	if (a->text != b->text)
		return a->text < b->text ? -1 : 1;
	return (a->main > b->main) - (a->main < b->main);
}

static int by_line(const void *x, const void *y)
{
	const struct pd_site_seen *a = x, *b = y;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return (a->page > b->page) - (a->page < b->page);
}

static int by_path(const void *x, const void *y)
{
	const struct pd_site_seen *a = x, *b = y;
	return (a->path > b->path) - (a->path < b->path);
}

static int by_vote(const void *x, const void *y)
{
	const struct pd_site_vote *a = x, *b = y;
	return (a->path > b->path) - (a->path < b->path);
}

static void gather_page(struct pd_site_judge *j, uint32_t page)
{
	const struct pd_site_page *p = &j->pages[page];
	for (size_t i = 0; i < p->n_lines; i++) {
		j->seen = pd_grow(j->seen, j->n_seen, &j->cap_seen, sizeof *j->seen);
		j->seen[j->n_seen++] = (struct pd_site_seen){ p->lines[i], p->paths[p->path_of[i]], page, false };
	}
	for (size_t i = 0; i < p->n_paths; i++) {
		j->votes = pd_grow(j->votes, j->n_votes, &j->cap_votes, sizeof *j->votes);
		j->votes[j->n_votes++] = (struct pd_site_vote){ p->paths[i], p->links[i] };
	}
}

static void gather(struct pd_site_judge *j, const struct pd_site_page *pages, size_t n)
{
	j->n_seen = j->n_votes = j->n_lines = j->n_paths = 0;
	for (j->n_pages = 0; j->n_pages < n; j->n_pages++) {
		j->pages = pd_grow(j->pages, j->n_pages, &j->cap_pages, sizeof *j->pages);
		j->pages[j->n_pages] = pages[j->n_pages];
	}
	qsort(j->pages, n, sizeof *j->pages, by_context);
	for (uint32_t i = 0; i < n; i++)
		gather_page(j, i);
}

static bool differ(uint64_t a, uint64_t b)
{
	return __builtin_popcountll(a ^ b) > PD_SITE_BITS;
}

/* Do the pages on which these stand (one line, in the order of contexts) have so many different texts? */
static bool under_texts(const struct pd_site_judge *j, const struct pd_site_seen *s, size_t n, bool often)
{
	const struct pd_site_page *kept[PD_SITE_TEXTS];
	size_t n_kept = 0;
	for (size_t i = 0; i < n && n_kept < PD_SITE_TEXTS; i++) {
		const struct pd_site_page *p = &j->pages[s[i].page];
		bool other = true;
		for (size_t k = 0; k < n_kept && other; k++)
			other = differ(p->text, kept[k]->text) && (often || differ(p->main, kept[k]->main));
		if (other)
			kept[n_kept++] = p;
	}
	return n_kept == PD_SITE_TEXTS;
}

/* Have those pages so many different titles? */
static bool under_titles(const struct pd_site_judge *j, const struct pd_site_seen *s, size_t n)
{
	uint64_t titles[PD_SITE_TITLES];
	size_t found = 0;
	for (size_t i = 0; i < n && found < PD_SITE_TITLES; i++) {
		uint64_t title = j->pages[s[i].page].title;
		bool other = title != 0;
		for (size_t k = 0; k < found && other; k++)
			other = title != titles[k];
		if (other)
			titles[found++] = title;
	}
	return found == PD_SITE_TITLES;
}

static size_t count_pages(const struct pd_site_seen *s, size_t n)
{
	size_t pages = 0;
	for (size_t i = 0; i < n; i++)
		pages += i == 0 || s[i].page != s[i - 1].page;
	return pages;
}

static void judge_lines(struct pd_site_judge *j)
{
	qsort(j->seen, j->n_seen, sizeof *j->seen, by_line);
	for (size_t i = 0, end; i < j->n_seen; i = end) {
		for (end = i + 1; end < j->n_seen && j->seen[end].line == j->seen[i].line; end++)
			;
		size_t pages = count_pages(j->seen + i, end - i);
		bool often = pages * 2 > j->n_pages;
		if (pages < PD_SITE_TEXTS ||
		    (!under_texts(j, j->seen + i, end - i, often) && !(often && under_titles(j, j->seen + i, end - i))))
			continue;
		for (size_t k = i; k < end; k++)
			j->seen[k].repeated = true;
		j->lines = pd_grow(j->lines, j->n_lines, &j->cap_lines, sizeof *j->lines);
		j->lines[j->n_lines++] = j->seen[i].line;
	}
}

/* `at`: the first of j->seen that is not before this path; returns where the next begins. */
static size_t judge_path(struct pd_site_judge *j, size_t at, const struct pd_site_vote *v, size_t n)
{
	uint64_t lines = 0, repeated = 0, links = 0;
	for (size_t i = 0; i < n; i++)
		links += v[i].links;
	for (; at < j->n_seen && j->seen[at].path == v->path; at++) {
		lines++;
		repeated += j->seen[at].repeated;
	}
	if (n >= PD_SITE_PATH_PAGES && repeated && (repeated + links) * 2 >= lines + links) {
		j->paths = pd_grow(j->paths, j->n_paths, &j->cap_paths, sizeof *j->paths);
		j->paths[j->n_paths++] = v->path;
	}
	return at;
}

/* Each line's path is one of its page's, so both lists run through the same paths. */
static void judge_paths(struct pd_site_judge *j)
{
	qsort(j->seen, j->n_seen, sizeof *j->seen, by_path);
	qsort(j->votes, j->n_votes, sizeof *j->votes, by_vote);
	for (size_t i = 0, end, at = 0; i < j->n_votes; i = end) {
		for (end = i + 1; end < j->n_votes && j->votes[end].path == j->votes[i].path; end++)
			;
		at = judge_path(j, at, j->votes + i, end - i);
	}
}

struct pd_site pd_site_decide(struct pd_site_judge *j, const struct pd_site_page *pages, size_t n)
{
	if (n < PD_SITE_TEXTS)
		return (struct pd_site){ 0 };
	gather(j, pages, n);
	if (j->n_seen)
		judge_lines(j);
	if (j->n_lines)
		judge_paths(j);
	return (struct pd_site){ j->lines, j->paths, j->n_lines, j->n_paths };
}
