# SPDX-License-Identifier: BSD-2-Clause
# What our library answers on rxe where the stock library answers something else: sed -E on stock's output of `calls`.

# Thread and parent domains need nothing of the device.
s/^(alloc_td|alloc_parent_domain): NULL errno EOPNOTSUPP$/\1: object/
s/^(dealloc_pd of a parent domain|dealloc_td): no object$/\1: 0/

# What is not known is refused, and says so.
/^create_cq_ex unknown flag: object$/,/^destroy_cq extended unknown flag: 0$/ {
    /^  cqe/d
    s/^(create_cq_ex unknown flag): object$/\1: NULL errno EOPNOTSUPP/
    s/^(destroy_cq extended unknown flag): 0$/\1: no object/
}
s/^(create_cq_ex unknown comp_mask): NULL errno 0$/\1: NULL errno EOPNOTSUPP/

# rxe has no extended SRQs, whatever else is wrong with the request.
s/^(create_srq_ex (xrc without its domain|tag matching without tags|xrc without a PD)): NULL errno EINVAL$/\1: NULL errno EOPNOTSUPP/

# Import works where the kernel answers QUERY_MR.
s/^import_device: NULL errno EOPNOTSUPP$/import_device: object\
import_pd: object\
import_mr: object\
  length 4096\
  keys 1\
  addr 0\
import_mr of no region: NULL errno ENOENT\
close_device imported: 0/
