/* SPDX-License-Identifier: MIT
 * The license and the notices of others, inside the binary. */
	.section .rodata
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
