"""Who can be trusted on this machine.

`socket_owners` says which user is at the other end of a loopback connection; `kernel_sockets` and
`socket_tables` are the two ways to ask the kernel. `proofs` are for where it cannot say: both sides
show that they know a secret. `private_files` makes and opens directories and files that nobody else
may read, and refuses those of others. Standard library only, because applications use it too.
"""
