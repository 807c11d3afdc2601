/* SPDX-License-Identifier: MIT
 * The tables of the legacy charsets, inside the binary. */
	.section .rodata
	.balign 64
	.globl pd_data_charsets
	.hidden pd_data_charsets
pd_data_charsets:
	.incbin PD_CHARSETS_BIN
	.section .note.GNU-stack,"",%progbits
