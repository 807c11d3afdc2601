# SPDX-License-Identifier: MIT
"""The extension, by cffi in API mode: the compiler compares every function and struct with the header."""
import os
import re
import subprocess
import sys

from cffi import FFI

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, 'source')  # in an archive of the sources of this package
if not os.path.isdir(TOP):
    TOP = os.path.dirname(HERE)
BUILD = os.environ.get('PAGEDEDUP_BUILD', os.path.join(TOP, 'build'))
WORDS = os.path.join(TOP, 'jieba')  # also only there
if os.path.isdir(WORDS):
    os.environ.setdefault('DICT_SOURCE', WORDS)


def require_libraries():
    """End with a list of the packages that the build needs and that are not installed."""
    if 'PAGEDEDUP_LIBS' in os.environ or 'sdist' in sys.argv:
        return
    done = subprocess.run(['sh', os.path.join(TOP, 'tools', 'install-deps'), 'list'], stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit('pagededup cannot be built here.  ' + done.stderr)


def declarations():
    text = open(os.path.join(TOP, 'include', 'pagededup.h'), encoding='utf-8').read()
    text = re.sub(r'/\*.*?\*/', '', text, flags=re.S)
    text = text[text.index('PAGEDEDUP_API const char *pagededup_version'):text.rindex('#ifdef __cplusplus')]
    text = re.sub(r'^#define (PAGEDEDUP_WITH_\w+) (\d+)u$', r'#define \1 \2', text, flags=re.M)
    return text.replace('PAGEDEDUP_API ', '')


def link_arguments():
    """The libraries of the program: pkg-config packages, and -lNAME for libraries without one."""
    if 'PAGEDEDUP_LIBS' in os.environ:  # the libraries with which make linked the program
        return os.environ['PAGEDEDUP_LIBS'].split()
    if 'sdist' in sys.argv:
        return []
    with open(os.path.join(TOP, 'tools', 'libraries'), encoding='utf-8') as file:
        modules = [line.split('\t')[1] for line in file if not line.startswith('#')]
    libraries = subprocess.check_output(['pkg-config', '--libs', *(name for name in modules if not name.startswith('-l'))], text=True).split()
    return [*libraries, *(name for name in modules if name.startswith('-l')), '-lstdc++', '-lm']


HARDEN_CFLAGS = ['-U_FORTIFY_SOURCE', '-D_FORTIFY_SOURCE=3', '-fstack-protector-strong']
HARDEN_LDFLAGS = ['-Wl,-z,relro', '-Wl,-z,now', '-Wl,-z,noexecstack']

require_libraries()
builder = FFI()
builder.cdef(declarations())
builder.set_source('pagededup._native', '#include <pagededup.h>', include_dirs=[os.path.join(TOP, 'include')],
                   extra_objects=[os.path.join(BUILD, 'libpagededup.a')],
                   extra_compile_args=HARDEN_CFLAGS,
                   extra_link_args=[*link_arguments(), '-pthread', '-Wl,--version-script,' + os.path.join(HERE, 'exports.map'), *HARDEN_LDFLAGS],
                   py_limited_api=True)
