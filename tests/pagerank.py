#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compute ranks independently: pagerank.py RANKS LINKS prints the largest relative difference between the page ranks of
RANKS (rows of rank) and those that igraph, networkx or, if neither is installed, this script computes from LINKS (rows
of link); then the name of the program used.  Pages are known by their URLs, which must be in canonical form."""
import sys


def table(path):
    names = None
    for line in open(path, encoding="utf-8", errors="surrogateescape"):
        line = line.rstrip("\n")
        if line.startswith("# "):
            continue
        if line.startswith("#"):
            names = line[1:].split("\t")
            continue
        yield dict(zip(names, line.split("\t")))


def by_hand(n, out, d=.85):
    rank = [1 / n] * n
    for _ in range(300):
        idle = sum(rank[i] for i in range(n) if not out[i])
        now = [(1 - d) / n + d * idle / n] * n
        for i, targets in enumerate(out):
            for t in targets:
                now[t] += d * rank[i] / len(targets)
        if sum(abs(a - b) for a, b in zip(now, rank)) < 1e-13:
            break
        rank = now
    return rank


def main():
    ranks = list(table(sys.argv[1]))
    node, urls, of_id = {}, [], {}
    for row in ranks:
        of_id[row["id"]] = row["url"]
        if row["url"] not in node:
            node[row["url"]] = len(urls)
            urls.append(row["url"])
    out = [set() for _ in urls]
    for row in table(sys.argv[2]):
        a, b = node[of_id[row["page"]]], node.get(row["target"])
        if b is not None and a != b:
            out[a].add(b)
    try:
        import igraph
        graph = igraph.Graph(n=len(urls), edges=[(a, b) for a in range(len(urls)) for b in sorted(out[a])], directed=True)
        rank, means = graph.pagerank(damping=.85), "igraph"
    except ImportError:
        try:
            from networkx import DiGraph
            from networkx.algorithms.link_analysis.pagerank_alg import _pagerank_python
            graph = DiGraph((a, b) for a in range(len(urls)) for b in out[a])
            graph.add_nodes_from(range(len(urls)))
            rank, means = _pagerank_python(graph, alpha=.85, tol=1e-12, max_iter=1000), "networkx"
        except ImportError:
            rank, means = by_hand(len(urls), out), "by hand"
    apart = max(abs(float(row["page_rank"]) / (rank[node[row["url"]]] * len(urls)) - 1) for row in ranks)
    print(f"{apart:.1e} {means}")


main()
