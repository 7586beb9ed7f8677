#!/bin/sh
# A host for ranks, in namespaces of its own: `node.sh NAME TMP`. The folder TMP is its /tmp.
set -e
hostname "$1"
mount -t tmpfs none /dev/shm
cat /proc/sys/kernel/random/uuid >/dev/shm/boot_id
mount --bind /dev/shm/boot_id /proc/sys/kernel/random/boot_id
mount --bind "$2" /tmp
ip link set lo up
echo ready
# As init does, it takes the children that others leave.
sleep 600 &
wait
