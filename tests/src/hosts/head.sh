#!/bin/sh
# The host on which launchers run, in namespaces of its own: `head.sh FOLDER`. Its network is the switch that all hosts hang on.
set -e
mount --make-rprivate /
hostname head
mount --bind "$1/hosts" /etc/hosts
ip link set lo up
ip link add switch type bridge
ip addr add 10.77.0.254/24 dev switch
ip link set switch up
echo ready
exec sleep 600
