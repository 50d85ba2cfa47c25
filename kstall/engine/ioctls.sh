#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Writes C: what an ioctl on an accelerator's file does, of the table below.
#
#	LAYER WORD CALL PHASE
#
# WORD is the ioctl's number. Where its bits 16 to 29, the size of the argument, are 0, they do not count, as sizes change from
# version to version. CALL is the name in the header. PHASE is what why says; it says no more than the number does: which
# control, which class of object and how many bytes lie in the program's memory, which is not read.
exec awk '!/^#/ && NF > 3 {
	phase = $4
	for (i = 5; i <= NF; i++)
		phase = phase " " $i
	printf "\t{ KS_%s, %s, \"%s\", \"%s\" },\n", toupper($1), $2, $3, phase
}' <<'EOF'
# nvidia: NVIDIA/open-gpu-kernel-modules, src/nvidia/arch/nvalloc/unix/include/nv_escape.h and
# kernel-open/common/inc/nv-ioctl-numbers.h; compared from 515.43 to 595.45: no number has another meaning in another version.
# Users send _IOWR('F', NUMBER, ...). The other drivers with 'F' (Documentation/userspace-api/ioctl/ioctl-number.rst: frame
# buffers, pmcraid) have none of these numbers, so a file need not be known.
#
# RM_ALLOC_MEMORY pins host memory if its class is NV01_MEMORY_SYSTEM_OS_DESCRIPTOR (escape.c), which is the only class that CUDA
# is known to ask for by this call (gVisor, which hands CUDA's calls on, knows no other); else it allocates.
# RM_VID_HEAP_CONTROL allocates, pins, frees or asks. IOCTL_XFER_CMD holds another call.
nvidia 0xC0004627 RM_ALLOC_MEMORY pin or alloc
nvidia 0xC0004628 RM_ALLOC_OBJECT alloc
nvidia 0xC0004629 RM_FREE free
nvidia 0xC000462A RM_CONTROL control
nvidia 0xC000462B RM_ALLOC alloc
nvidia 0xC0004632 RM_CONFIG_GET control
nvidia 0xC0004633 RM_CONFIG_SET control
nvidia 0xC0004634 RM_DUP_OBJECT share
nvidia 0xC0004635 RM_SHARE share
nvidia 0xC0004637 RM_CONFIG_GET_EX control
nvidia 0xC0004638 RM_CONFIG_SET_EX control
nvidia 0xC0004639 RM_I2C_ACCESS control
nvidia 0xC0004641 RM_IDLE_CHANNELS idle channels
nvidia 0xC000464A RM_VID_HEAP_CONTROL heap
nvidia 0xC000464D RM_ACCESS_REGISTRY control
nvidia 0xC000464E RM_MAP_MEMORY map
nvidia 0xC000464F RM_UNMAP_MEMORY map
nvidia 0xC0004652 RM_GET_EVENT_DATA event
nvidia 0xC0004654 RM_ALLOC_CONTEXT_DMA2 alloc
nvidia 0xC0004657 RM_MAP_MEMORY_DMA map
nvidia 0xC0004658 RM_UNMAP_MEMORY_DMA map
nvidia 0xC0004659 RM_BIND_CONTEXT_DMA map
nvidia 0xC000465C RM_EXPORT_OBJECT_TO_FD share
nvidia 0xC000465D RM_IMPORT_OBJECT_FROM_FD share
nvidia 0xC000465E RM_UPDATE_DEVICE_MAPPING_INFO map
nvidia 0xC00046C8 CARD_INFO open
nvidia 0xC00046C9 REGISTER_FD open
nvidia 0xC00046CE ALLOC_OS_EVENT event
nvidia 0xC00046CF FREE_OS_EVENT event
nvidia 0xC00046D1 STATUS_CODE control
nvidia 0xC00046D2 CHECK_VERSION_STR open
nvidia 0xC00046D3 IOCTL_XFER_CMD other
nvidia 0xC00046D4 ATTACH_GPUS_TO_FD open
nvidia 0xC00046D5 QUERY_DEVICE_INTR control
nvidia 0xC00046D6 SYS_PARAMS open
nvidia 0xC00046D9 EXPORT_TO_DMABUF_FD dma-buf export
nvidia 0xC00046DA WAIT_OPEN_COMPLETE open

# uvm: the same, kernel-open/nvidia-uvm/uvm_ioctl.h and uvm_linux_ioctl.h. The numbers are bare, so the file has to be known:
# from /proc, or because UVM_INITIALIZE, which nobody else has, was the first call on it, as that driver demands.
uvm 0x30000001 UVM_INITIALIZE register
uvm 0x30000002 UVM_DEINITIALIZE register
uvm 23 UVM_CREATE_RANGE_GROUP advise
uvm 24 UVM_DESTROY_RANGE_GROUP advise
uvm 25 UVM_REGISTER_GPU_VASPACE register
uvm 26 UVM_UNREGISTER_GPU_VASPACE register
uvm 27 UVM_REGISTER_CHANNEL register
uvm 28 UVM_UNREGISTER_CHANNEL register
uvm 29 UVM_ENABLE_PEER_ACCESS register
uvm 30 UVM_DISABLE_PEER_ACCESS register
uvm 31 UVM_SET_RANGE_GROUP advise
uvm 33 UVM_MAP_EXTERNAL_ALLOCATION map
uvm 34 UVM_FREE map
uvm 37 UVM_REGISTER_GPU register
uvm 38 UVM_UNREGISTER_GPU register
uvm 39 UVM_PAGEABLE_MEM_ACCESS register
uvm 40 UVM_PREVENT_MIGRATION_RANGE_GROUPS advise
uvm 41 UVM_ALLOW_MIGRATION_RANGE_GROUPS advise
uvm 42 UVM_SET_PREFERRED_LOCATION advise
uvm 43 UVM_UNSET_PREFERRED_LOCATION advise
uvm 44 UVM_ENABLE_READ_DUPLICATION advise
uvm 45 UVM_DISABLE_READ_DUPLICATION advise
uvm 46 UVM_SET_ACCESSED_BY advise
uvm 47 UVM_UNSET_ACCESSED_BY advise
uvm 51 UVM_MIGRATE migrate
uvm 53 UVM_MIGRATE_RANGE_GROUP migrate
uvm 54 UVM_ENABLE_SYSTEM_WIDE_ATOMICS register
uvm 55 UVM_DISABLE_SYSTEM_WIDE_ATOMICS register
uvm 65 UVM_MAP_DYNAMIC_PARALLELISM_REGION map
uvm 66 UVM_UNMAP_EXTERNAL map
uvm 68 UVM_ALLOC_SEMAPHORE_POOL map
uvm 69 UVM_CLEAN_UP_ZOMBIE_RESOURCES map
uvm 70 UVM_PAGEABLE_MEM_ACCESS_ON_GPU register
uvm 71 UVM_POPULATE_PAGEABLE migrate
uvm 72 UVM_VALIDATE_VA_RANGE map
uvm 73 UVM_CREATE_EXTERNAL_RANGE map
uvm 74 UVM_MAP_EXTERNAL_SPARSE map
uvm 75 UVM_MM_INITIALIZE register

# kfd: Linux 6.1, include/uapi/linux/kfd_ioctl.h. Consoles have bare numbers of 'K', without a direction.
kfd 0x80004B01 GET_VERSION control
kfd 0xC0004B02 CREATE_QUEUE queue
kfd 0xC0004B03 DESTROY_QUEUE queue
kfd 0x40004B04 SET_MEMORY_POLICY control
kfd 0xC0004B05 GET_CLOCK_COUNTERS control
kfd 0x80004B06 GET_PROCESS_APERTURES control
kfd 0x40004B07 UPDATE_QUEUE queue
kfd 0xC0004B08 CREATE_EVENT event
kfd 0x40004B09 DESTROY_EVENT event
kfd 0x40004B0A SET_EVENT event
kfd 0x40004B0B RESET_EVENT event
kfd 0xC0004B0C WAIT_EVENTS wait for events
kfd 0xC0004B11 SET_SCRATCH_BACKING_VA control
kfd 0xC0004B12 GET_TILE_CONFIG control
kfd 0x40004B13 SET_TRAP_HANDLER control
kfd 0xC0004B14 GET_PROCESS_APERTURES_NEW control
kfd 0x40004B15 ACQUIRE_VM open
kfd 0xC0004B16 ALLOC_MEMORY_OF_GPU alloc
kfd 0x40004B17 FREE_MEMORY_OF_GPU free
kfd 0xC0004B18 MAP_MEMORY_TO_GPU map
kfd 0xC0004B19 UNMAP_MEMORY_FROM_GPU map
kfd 0x40004B1A SET_CU_MASK queue
kfd 0xC0004B1B GET_QUEUE_WAVE_STATE queue
kfd 0xC0004B1C GET_DMABUF_INFO share
kfd 0xC0004B1D IMPORT_DMABUF share
kfd 0xC0004B1E ALLOC_QUEUE_GWS queue
kfd 0xC0004B1F SMI_EVENTS control
kfd 0xC0004B20 SVM svm
kfd 0xC0004B21 SET_XNACK_MODE control
kfd 0xC0004B22 CRIU_OP control
kfd 0xC0004B23 AVAILABLE_MEMORY control

# uverbs: include/uapi/rdma/rdma_user_ioctl_cmds.h. One number for all; which method of which object is in user memory. (The
# same with another size is a management datagram's.)
uverbs 0xC0181B01 RDMA_VERBS_IOCTL command
EOF
