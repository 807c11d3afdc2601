#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pages and dumps that are made to cost more than their bytes.

usage: hostile.py                  the names of the patterns
       hostile.py NAME SIZE        about SIZE bytes of one, on stdout
"""
import gzip, random, sys

def repeat(piece, before='', after=''):
    """`piece` again and again; %d in it counts."""
    def page(size):
        out, n, i = [before], len(before) + len(after), 0
        while n < size:
            s = piece.replace('%d', str(i))
            out.append(s)
            n += len(s.encode())
            i += 1
        return ''.join(out) + after
    return page

def halves(left, right, middle='x'):
    return lambda size: left * (size // 2 // len(left)) + middle + right * (size // 2 // len(right))

prose = 'The quick brown fox %d jumps over the lazy dog and runs. '
han = '\u7814\u7a76\u751f\u547d\u8d77\u6e90\u4e2d\u534e\u4eba\u6c11\u5171\u548c\u56fd\u6210\u7acb\u4e86\u7f51\u9875\u8fd1\u4f3c'
patterns = {
    'nested-divs': halves('<div>', '</div>'),
    'nested-inline': repeat('<span><i>'),
    'nested-tables': repeat('<table><tr><td>x'),
    'nested-lists': repeat('<ul><li>x'),
    'nested-links': repeat('<a href=%d>x'),
    'nested-blockquotes-text': repeat('<blockquote>some words of text '),
    'nested-select-button': repeat('<select><option><button>x'),
    'headings-never-closed': repeat('<h1>x<h2>y'),
    'lists': repeat('<li>item %d', '<ul>'),
    'table-cells': repeat('<td>%d', '<table><tr>'),
    'table-rows': repeat('<tr><td>%d</td></tr>', '<table>'),
    'table-misplaced': repeat('<table>x<b>y<tr>z'),
    'formatting': repeat('<b><i><u><font size=%d>x<p>'),
    'formatting-crossed': repeat('<b><i>x</b>y</i>'),
    'attributes': repeat(' a%d=%d', '<div', '>x'),
    'attributes-same': repeat(' class=x', '<div', '>x'),
    'attribute-long': lambda size: '<a href="' + 'x' * size + '">y',
    'attribute-never-closed': lambda size: '<a href="' * (size // 9),
    'attribute-quotes': lambda size: "<a b='" * (size // 12) + '<a b="' * (size // 12),
    'unclosed': repeat('<p><div><span><em>word '),
    'closed-only': repeat('</p></div></b></td></ul>'),
    'never-opened': repeat('<p>x</b></i></font>'),
    'one-text': lambda size: 'abcdefgh ' * (size // 9),
    'one-word': lambda size: 'a' * size,
    'one-line-prose': repeat(prose),
    'entities': lambda size: '&amp;' * (size // 5),
    'entities-bad': lambda size: '&notanentity' * (size // 12),
    'entities-numeric': lambda size: '&#x' * (size // 6) + '&#99999999999' * (size // 26),
    'less-than': lambda size: '<' * size,
    'less-than-space': lambda size: '< ' * (size // 2),
    'ampersands': lambda size: '&' * size,
    'greater-than': lambda size: '>' * size,
    'quotes': lambda size: '<p "' * (size // 4),
    'slashes': lambda size: '<a' + '/' * size,
    'comments': repeat('<!-- x -->y'),
    'comments-open': lambda size: '<!--' * (size // 4),
    'comments-dashes': lambda size: '<!--' + '-' * size,
    'comments-bang': lambda size: '<!--' + '--!' * (size // 3),
    'cdata': lambda size: '<![CDATA[' * (size // 9),
    'processing': lambda size: '<?php ' * (size // 6),
    'doctypes': lambda size: '<!doctype ' * (size // 10),
    'scripts-open': lambda size: '<script>' * (size // 8),
    'scripts-many': repeat('<script>var x = "</scrip";</script>'),
    'titles-open': lambda size: '<title>' * (size // 7),
    'titles-many': repeat('<title>t %d</title>'),
    'textareas-open': lambda size: '<textarea>x' * (size // 11),
    'svg-open': lambda size: '<svg>' * (size // 5),
    'templates-nested': halves('<template>', '</template>'),
    'noscript-nested': lambda size: '<noscript>' * (size // 10),
    'noscript-unfolded': lambda size: '<noscript>' + '<noscript><p>a</noscript>' * 9 + '<noscript><p>' * (size // 13) + '</noscript>',
    'plaintext': lambda size: '<plaintext>' * (size // 11),
    'frames': repeat('<frameset><frame src=%d>'),
    'forms': repeat('<form><input name=%d>'),
    'meta': repeat('<meta name=keywords content="a, b, %d">'),
    'meta-charset': repeat('<meta charset=x%d>'),
    'links': repeat('<a href=/%d>x</a> '),
    'links-list': repeat('<li><a href=/p/%d>title of page %d</a></li>', '<ul>'),
    'headings-paragraphs': repeat('<h2>Part %d</h2><p>' + prose + '</p>'),
    'br': lambda size: 'a<br>' * (size // 5),
    'pre-lines': lambda size: '<pre>' + 'a\n' * (size // 2),
    'spaces': lambda size: ' ' * size + 'x',
    'no-break-spaces': lambda size: '\u00a0' * (size // 2),
    'classes': repeat('<div class="comment sidebar footer nav c%d">x</div>'),
    'class-tokens': lambda size: '<div class="' + 'nav-footer ' * (size // 11) + '">x',
    'articles': repeat('<article><p>' + prose + '</article>'),
    'same-paragraph': repeat('<p>All rights reserved by the owner of these words. '),
    'han': lambda size: han * (size // 3 // len(han)),
    'han-one': lambda size: '\u7684' * (size // 3),
    'han-rare': repeat('\u9f98\u9750\u9f49'),
    'kana': lambda size: '\u3072\u3089' * (size // 6),
    'marks': lambda size: 'a' + '\u0301' * (size // 2),
    'marks-mixed': lambda size: 'a' + '\u0301\u0327' * (size // 4),
    'jamo': lambda size: '\u1100\u1161\u11a8' * (size // 9),
    'ligatures': lambda size: '\ufdfa' * (size // 3),
    'apostrophes': lambda size: "a'" * (size // 2),
    'soft-hyphens': lambda size: 'a\u00ad' * (size // 3),
    'stop-words': lambda size: 'the of and ' * (size // 11),
    'emoji': lambda size: '\U0001f469\u200d\U0001f467 ' * (size // 12),
    'nul': lambda size: '\0<p>' * (size // 4),
    'declared-utf-7': lambda size: '<meta charset=utf-7>' + '+AGE-' * (size // 5),
}
binary = {
    'bad-utf-8': lambda size: b'<meta charset=utf-8>' + b'\xe4\xb8' * (size // 2),
    'undeclared-high': lambda size: b'\x81\x30' * (size // 2),
    'gb18030-four': lambda size: b'<meta charset=gb18030>' + b'\x81\x30\x81\x30' * (size // 4),
    'gb18030-bad': lambda size: b'<meta charset=gb18030>' + b'\x81\x30\x81' * (size // 3),
    'big5-bad': lambda size: b'<meta charset=big5>' + b'\xfe' * size,
    'iso-2022-jp': lambda size: b'<meta charset=iso-2022-jp>' + b'\x1b$B\x1b(B' * (size // 6),
    'utf-16': lambda size: b'\xff\xfe' + b'\x00\xd8' * (size // 2),
    'random': lambda size: random.Random(1).randbytes(size),
}

def record(block, length=None, kind=b'response', more=b''):
    return (b'WARC/1.0\r\nWARC-Type: %s\r\nWARC-Target-URI: http://a.example/\r\n%sContent-Length: %d\r\n\r\n' %
            (kind, more, len(block) if length is None else length)) + block + b'\r\n\r\n'

def times(piece):
    return lambda size: piece * (size // len(piece))

http = b'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n'
small = record(http + b'\r\n<p>x')
member = gzip.compress(small, mtime=0)
noise = random.Random(2).randbytes(5000)
binary |= {
    'dump-tiny-records': times(small),
    'dump-empty-records': times(b'WARC/1.0\r\nContent-Length: 0\r\n\r\n\r\n\r\n'),
    'dump-versions': times(b'WARC/1.0\r\n'),
    'dump-version-lines': times(b'WARC/1.0\r\n\r\n'),
    'dump-too-long': times(record(http + b'\r\n<p>x', 999999)),
    'dump-too-long-each': times(record(http + b'\r\n<p>x', 1000)),
    'dump-too-short': times(record(http + b'\r\n<p>x', 3)),
    'dump-headers': lambda size: small + b'WARC/1.0\r\n' + b'X: y\r\n' * (size // 6),
    'dump-header-folded': lambda size: small + b'WARC/1.0\r\nX: y\r\n' + b' z\r\n' * (size // 4),
    'dump-header-line': lambda size: small + b'WARC/1.0\r\nX: ' + b'y' * size,
    'dump-junk-between': times(small + b'WARC/1.0 is not a record\n' * 20),
    'dump-line-ends': lambda size: small + b'\r\n' * (size // 2) + small,
    'dump-gz-members': times(member),
    'dump-gz-empty-members': lambda size: member + gzip.compress(b'', mtime=0) * (size // 20),
    'dump-gz-whole': lambda size: gzip.compress(small * (size // 30), 1, mtime=0)[:size],
    'dump-gz-magic': lambda size: member + b'\x1f\x8b\x08\0\0\0\0\0\0\3' * (size // 10),
    'dump-gz-magic-close': lambda size: member + b'\x1f\x8b\x08\0' * (size // 4),
    'dump-gz-cut': times(member[:-9]),
    'dump-gz-bad-checksum': times(member[:-8] + b'12345678'),
    'dump-gz-bad-middle': times(gzip.compress(record(http + b'\r\n' + noise), mtime=0)[:-2000] + b'\xff' * 1000),
    'dump-gz-head-only': times(gzip.compress(b'WARC/1.0\r\n', mtime=0)[:-8]),
    'http-headers': lambda size: record(http + b'X: y\r\n' * (size // 6) + b'\r\n<p>x'),
    'http-header-folded': lambda size: record(http + b'X: y\r\n' + b' z\r\n' * (size // 4) + b'\r\n<p>x'),
    'http-chunks': lambda size: record(http + b'Transfer-Encoding: chunked\r\n\r\n' + b'1\r\nx\r\n' * (size // 6) + b'0\r\n\r\n'),
    'http-chunk-size': lambda size: record(http + b'Transfer-Encoding: chunked\r\n\r\n' + b'0' * size),
    'http-chunk-extension': lambda size: record(http + b'Transfer-Encoding: chunked\r\n\r\n' + b'1;a=b;c\r\nx\r\n' * (size // 13)),
    'http-codings': lambda size: record(http + b'Content-Encoding: ' + b'gzip,' * (size // 5) + b'\r\n\r\n<p>x'),
    'http-gzip-members': lambda size: record(http + b'Content-Encoding: gzip\r\n\r\n' + gzip.compress(b'<p>x', mtime=0) * (size // 24)),
    'http-gzip-empty-members': lambda size: record(http + b'Content-Encoding: gzip\r\n\r\n' + gzip.compress(b'', mtime=0) * (size // 20)),
    'http-gzip-bomb': lambda size: record(http + b'Content-Encoding: gzip\r\n\r\n' + gzip.compress(bytes(size * 50), mtime=0)) * 3,
    'http-gzip-twice': lambda size: record(http + b'Content-Encoding: gzip, gzip\r\n\r\n' +
                                           gzip.compress(gzip.compress(bytes(size * 50), mtime=0), mtime=0)) * 3,
    'http-deflate-noise': lambda size: record(http + b'Content-Encoding: deflate\r\n\r\n' + random.Random(3).randbytes(size)),
}

if len(sys.argv) == 1:
    print('\n'.join([*patterns, *binary]))
elif sys.argv[1] in binary:
    sys.stdout.buffer.write(binary[sys.argv[1]](int(sys.argv[2])))
else:
    sys.stdout.buffer.write(patterns[sys.argv[1]](int(sys.argv[2])).encode())
