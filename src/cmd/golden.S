/* SPDX-License-Identifier: MIT
 * Golden pages and their fingerprints (tools/pack-golden), inside the binary. */
	.section .rodata
	.globl pd_cmd_golden
	.hidden pd_cmd_golden
pd_cmd_golden:
	.incbin PD_GOLDEN_BIN
	.globl pd_cmd_golden_end
	.hidden pd_cmd_golden_end
pd_cmd_golden_end:
	.byte 0
	.section .note.GNU-stack,"",%progbits
