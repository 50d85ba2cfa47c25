/* SPDX-License-Identifier: GPL-2.0 */
/* Read after a kernel's own configuration: one without huge pages, as -rt kernels of 6.1 are. */
#undef CONFIG_ARCH_ENABLE_THP_MIGRATION
#undef CONFIG_HUGETLB_PAGE
#undef CONFIG_HUGETLBFS
#undef CONFIG_HUGETLB_PAGE_OPTIMIZE_VMEMMAP
#undef CONFIG_TRANSPARENT_HUGEPAGE
#undef CONFIG_TRANSPARENT_HUGEPAGE_ALWAYS
#undef CONFIG_TRANSPARENT_HUGEPAGE_MADVISE
