/* SPDX-License-Identifier: BSD-2-Clause */
/* The ioctl of a uverbs character device: one method of one object, called with a list of attributes. */
#ifndef RDMA_USER_IOCTL_CMDS_H
#define RDMA_USER_IOCTL_CMDS_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define RDMA_IOCTL_MAGIC 0x1b
#define RDMA_VERBS_IOCTL _IOWR(RDMA_IOCTL_MAGIC, 1, struct ib_uverbs_ioctl_hdr)

/* Flags of an attribute. */
enum {
    UVERBS_ATTR_F_MANDATORY = 1 << 0,    /* set by the caller: fail where the attribute is unknown */
    UVERBS_ATTR_F_VALID_OUTPUT = 1 << 1, /* set by the kernel: the output was written */
};

struct ib_uverbs_attr {
    __u16 attr_id; /* number within the method */
    __u16 len;     /* bytes; an input of up to 8 stands in data itself; 0 for objects and files */
    __u16 flags;   /* UVERBS_ATTR_F_* */
    union {
        struct {
            __u8 elem_id; /* which alternative of an enumerated attribute */
            __u8 reserved;
        } enum_data;
        __u16 reserved;
    } attr_data;
    union {
        __aligned_u64 data; /* value, object handle, or address of the buffer */
        __s64 data_s64;     /* file descriptor */
    };
};

struct ib_uverbs_ioctl_hdr {
    __u16 length; /* bytes of this header and its attributes */
    __u16 object_id;
    __u16 method_id;
    __u16 num_attrs;
    __aligned_u64 reserved1;
    __u32 driver_id; /* enum rdma_driver_id; which driver's private numbers are meant */
    __u32 reserved2;
    struct ib_uverbs_attr attrs[];
};

#endif
