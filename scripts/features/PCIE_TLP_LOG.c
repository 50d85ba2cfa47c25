// SPDX-License-Identifier: GPL-2.0
/*
 * Is a TLP header log a struct pcie_tlp_log?
 *
 * include/linux/aer.h; 0a5a46a6a61b ("PCI/AER: Generalize TLP Header Log reading"), v6.10.
 */
#include <linux/types.h>
#include <linux/aer.h>

#ifndef OTHERWISE
u32 test_PCIE_TLP_LOG(struct pcie_tlp_log *log);
u32 test_PCIE_TLP_LOG(struct pcie_tlp_log *log)
{
	return log->dw[0];
}
#else
u32 test_PCIE_TLP_LOG(struct aer_header_log_regs *log);
u32 test_PCIE_TLP_LOG(struct aer_header_log_regs *log)
{
	return log->dw0;
}
#endif
