/* SPDX-License-Identifier: MIT
 * What the program prints or checks itself by, inside the binary. */
	.section .rodata

/* Golden pages and their fingerprints (tools/pack-golden). */
	.globl pd_cmd_golden
	.hidden pd_cmd_golden
pd_cmd_golden:
	.incbin PD_GOLDEN_BIN
	.globl pd_cmd_golden_end
	.hidden pd_cmd_golden_end
pd_cmd_golden_end:
	.byte 0

/* The license, and the notices of others. */
	.globl pd_cmd_licenses
	.hidden pd_cmd_licenses
pd_cmd_licenses:
	.incbin "LICENSE"
	.ascii "\n"
	.incbin "THIRD-PARTY"
	.globl pd_cmd_licenses_end
	.hidden pd_cmd_licenses_end
pd_cmd_licenses_end:
	.byte 0
	.section .note.GNU-stack,"",%progbits
