#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Extract the main text of the manuals of corpora/sites with one rule per generator.

The collection contains only digests of these texts.

usage: gold.py DUMP PAGES      prints one line {"url", "text"} for each page whose text has the digest in PAGES

Needs lxml.  The rule (README of the collection): title and article, without navigation, links to sources and copyright line.  A
text is its words in lower case, separated by spaces.  A word of Han, Kana or Hangul is a single character.
"""
import gzip, hashlib, json, re, sys

WORD = re.compile(r'[\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]|'
                  r'[^\W\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+')
INLINE = set('a abbr acronym b bdi bdo big cite code del dfn em font i img ins kbd label mark q s samp small span strike strong sub '
             'sup tt u var wbr'.split())
# Elements that contain the text (the first that exists counts), and elements inside them to remove.
RULES = {
    'sphinx': (['//main//article', '//div[@class="body"]'],
               '//a[contains(@class, "headerlink")]|//*[contains(@class, "viewcode")]'),
    'publican': (['//div[contains(@class, "section") or contains(@class, "chapter") or contains(@class, "preface") or '
                  'contains(@class, "appendix")][1]'], ''),
    'docbook': (['//body/div[not(contains(@class, "nav"))][1]'], ''),
    'boostbook': (['//body/div[not(contains(@class, "spirit-nav"))]'], '//*[contains(@class, "copyright-footer")]'),
}


def words(text):
    return WORD.findall(text.lower())


def text_of(element):
    """Return the text of an element, with a line per block."""
    out = []
    def add(e):
        if isinstance(e.tag, str):
            border = '' if e.tag in INLINE else '\n'
            out.append(border + (e.text or ''))
            for child in e:
                add(child)
                out.append(child.tail or '')
            out.append(border)
    add(element)
    return ''.join(out)


def gold(html, body, generator):
    """Return the words of the main text, or None."""
    root = html.document_fromstring(body, parser=html.HTMLParser(encoding='utf-8'))
    places, less = RULES[generator]
    for element in root.xpath('//script|//style' + ('|' + less if less else '')):
        element.drop_tree()
    found = next((e for path in places for e in root.xpath(path)[:1]), None)
    return None if found is None else words(text_of(found))


def responses(path):
    """Yield the URL and the body of each page of a WARC file."""
    data, at = gzip.open(path, 'rb').read(), 0
    while at < len(data):
        start = data.index(b'\r\n\r\n', at) + 4
        head = data[at:start].decode()
        at = start + int(re.search(r'Content-Length: (\d+)', head)[1]) + 4
        url = re.search(r'WARC-Target-URI: (\S+)', head)
        if url and 'WARC-Type: response' in head:
            yield url[1], data[start:at - 4].partition(b'\r\n\r\n')[2]


def main():
    from lxml import html
    dump, pages = sys.argv[1:]
    rows = {row[0]: row for row in (line.rstrip('\n').split('\t') for line in open(pages, encoding='utf-8'))}
    for url, body in responses(dump):
        generator, digest = rows[url][2], rows[url][7]
        known = gold(html, body, generator) if generator in RULES else None
        if known and hashlib.md5(' '.join(known).encode()).hexdigest().startswith(digest):
            print(json.dumps({'url': url, 'text': ' '.join(known)}, ensure_ascii=False))


if __name__ == '__main__':
    main()
