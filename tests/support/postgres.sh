#!/bin/sh
# postgres.sh PROGRAMS FOLDER [OPTIONS...]: a PostgreSQL for tests, with its data and its Unix socket in
# FOLDER, an empty folder of the caller's.
#
# It starts at once. Lines of standard input are orders: `stop` shuts it down, `start` starts it again,
# also after it was killed. The end of the input ends everything and removes FOLDER; so no server
# outlives whatever holds the pipe, not even when that is killed. Its messages go to standard error.
#
# The data are a copy of a template that all processes share and later runs find again. PostgreSQL does
# not run as root: root runs it as `nobody`, from a copy of the programs that `nobody` can reach.
set -eu
trap '' HUP INT TERM PIPE
installed=$1 folder=$2
shift 2
trap 'rm -rf "$folder"' EXIT

as=
[ "$(id -u)" -ne 0 ] || as="setpriv --reuid=nobody --regid=$(id -g nobody) --clear-groups"
owner=$($as id -u)
chown "$owner" "$folder"

pins=$(dirname "$0")/../data/postgres.txt
template=${TMPDIR:-/tmp}/glyphoxa-test-postgres-$(cat "$pins" "$0" | sha256sum | cut -c1-16)-$(id -u)
# In this order: another process may put one in place meanwhile.
damaged=
[ ! -e "$template" ] || damaged=maybe
if [ ! -e "$template/data/PG_VERSION" ]; then
    # A cleaner of temporary folders has removed files.
    [ -z "$damaged" ] || rm -rf "$template"
    new=$folder/new
    mkdir "$new"
    programs=$installed
    if [ -n "$as" ]; then
        # The libraries lie where the programs look for them, beside the package.
        package=${installed%/*}
        programs=$new/programs/${package##*/}/${installed##*/}
        mkdir -p "${programs%/*}"
        cp -r "$package.libs" "$new/programs"
        cp -r "$installed" "$programs"
        chown -R "$owner" "$new"
    fi
    timeout -s KILL 60 $as "$programs/bin/initdb" -D "$new/data" -A trust -U postgres -E UTF8 --no-sync \
        --locale=C.UTF-8 --locale-provider=builtin --builtin-locale=C.UTF-8 >"$folder/initdb.log" 2>&1 || {
        cat "$folder/initdb.log" >&2
        exit 1
    }
    # Renamed, so it is never half made. When another process was faster, its template stays.
    mv -T "$new" "$template" 2>"$folder/mv.log" || rm -rf "$new"
fi
[ "$(stat -c %u "$template")" = "$owner" ] || {
    echo "'$template' belongs to another user: remove it" >&2
    exit 1
}
programs=$installed
[ -z "$as" ] || programs=$(echo "$template"/programs/*/"${installed##*/}")
cp -a "$template/data" "$folder"

set +e
order=start server=
while
    [ -z "$server" ] || [ "$order" = start ] || kill -INT "$server"
    [ -z "$server" ] || wait "$server"
    server=
    if [ "$order" = start ]; then
        $as "$programs/bin/postgres" -D "$folder/data" -k "$folder" -c listen_addresses= \
            -c max_connections=200 -c recovery_init_sync_method=syncfs "$@" &
        server=$!
    fi
    read -r order
do :; done
[ -z "$server" ] || kill -QUIT "$server"
[ -z "$server" ] || wait "$server"
