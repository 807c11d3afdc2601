#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turn the public header into a C program that prints the ABI: the sizes of structs, the offsets of their members, the
values of constants, and the declarations of functions.

usage: abi.py pagededup.h > abi.c"""
import re, sys

code = re.sub(r'/\*.*?\*/', '', open(sys.argv[1], encoding='utf-8').read(), flags=re.S)
print('#include <pagededup.h>\n#include <stdio.h>\nint main(void)\n{')
for name, body in re.findall(r'typedef struct (\w+) \{(.*?)\} \1;', code, re.S):
    print(f'\tprintf("{name} %zu\\n", sizeof({name}));')
    for declaration in body.split(';'):
        function = re.search(r'\(\*(\w+)\)', declaration)
        names = [function.group(1)] if function else re.findall(r'(\w+)(?:\[\d+\])?\s*(?=,|$)', declaration.strip())
        for member in names:
            print(f'\tprintf("{name}.{member} %zu %zu\\n", offsetof({name}, {member}), sizeof((({name} *)0)->{member}));')
for body in re.findall(r'typedef enum \w+ \{(.*?)\}', code, re.S):
    for name in re.findall(r'\bPAGEDEDUP_\w+', body):
        print(f'\tprintf("{name} %d\\n", (int){name});')
for name in re.findall(r'#define (PAGEDEDUP_WITH_\w+)', code):
    print(f'\tprintf("{name} %u\\n", {name});')
for declaration in re.findall(r'^PAGEDEDUP_API ([^;]*);|^typedef (int pagededup_pairs_function[^;]*);', code, re.M):
    print('\tputs("%s");' % ' '.join(''.join(declaration).split()))
print('\treturn 0;\n}')
