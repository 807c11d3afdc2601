# SPDX-License-Identifier: MIT
"""The extension, by cffi in API mode: the compiler compares every function and struct with the header."""
import os
import re
import subprocess

from cffi import FFI

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
BUILD = os.environ.get('PAGEDEDUP_BUILD', os.path.join(TOP, 'build'))


def declarations():
    text = open(os.path.join(TOP, 'include', 'pagededup.h'), encoding='utf-8').read()
    text = re.sub(r'/\*.*?\*/', '', text, flags=re.S)
    text = text[text.index('PAGEDEDUP_API const char *pagededup_version'):text.rindex('#ifdef __cplusplus')]
    text = re.sub(r'^#define (PAGEDEDUP_WITH_\w+) (\d+)u$', r'#define \1 \2', text, flags=re.M)
    return text.replace('PAGEDEDUP_API ', '')


def linked():
    """The libraries of the program: pkg-config packages, and -lNAME for libraries without one."""
    rows = [line.rstrip('\n').split('\t') for line in open(os.path.join(TOP, 'tools', 'libraries'), encoding='utf-8') if not line.startswith('#')]
    return [row[1] for row in rows]


def link_arguments():
    if 'PAGEDEDUP_LIBS' in os.environ:  # the libraries with which make linked the program
        return os.environ['PAGEDEDUP_LIBS'].split()
    packages = [name for name in linked() if not name.startswith('-l')]
    libraries = subprocess.check_output(['pkg-config', '--libs', *packages], text=True).split()
    return [*libraries, *(name for name in linked() if name.startswith('-l')), '-lgomp', '-lm']


HARDEN_CFLAGS = ['-U_FORTIFY_SOURCE', '-D_FORTIFY_SOURCE=3', '-fstack-protector-strong']
HARDEN_LDFLAGS = ['-Wl,-z,relro', '-Wl,-z,now', '-Wl,-z,noexecstack']

builder = FFI()
builder.cdef(declarations())
builder.set_source('pagededup._native', '#include <pagededup.h>', include_dirs=[os.path.join(TOP, 'include')],
                   extra_objects=[os.path.join(BUILD, 'libpagededup.a')],
                   extra_compile_args=HARDEN_CFLAGS,
                   extra_link_args=[*link_arguments(), '-pthread', '-Wl,--exclude-libs,ALL', *HARDEN_LDFLAGS],
                   py_limited_api=True)
