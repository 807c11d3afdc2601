/* SPDX-License-Identifier: MIT
 * The dictionary and the stop words, inside the binary: one file to ship. */
	.section .rodata
	.balign 64
	.globl pd_data_dict
	.hidden pd_data_dict
pd_data_dict:
	.incbin PD_DICT_BIN
	.globl pd_data_dict_end
	.hidden pd_data_dict_end
pd_data_dict_end:
	.byte 0
	.balign 64
	.globl pd_data_stopwords
	.hidden pd_data_stopwords
pd_data_stopwords:
	.incbin PD_STOPWORDS_TXT
	.globl pd_data_stopwords_end
	.hidden pd_data_stopwords_end
pd_data_stopwords_end:
	.byte 0
	.section .note.GNU-stack,"",%progbits
