#!/bin/sh
# What ssh is to a launcher: `agent.sh [OPTIONS] HOST COMMAND...` runs a command on a host of the test. As with ssh, the command
# knows nothing of the launcher's environment. The process of the host is in the file HOST.pid beside this one.
while :; do
    case $1 in
    -*) shift ;;
    *) break ;;
    esac
done
read -r process <"${0%/*}/$1.pid"
shift
exec env -i PATH="$PATH" HOME="$HOME" nsenter -t "$process" -a -- sh -c "$*"
