#!/usr/bin/env bash
# Takes the picture of the page of formats anew, with headless Chromium: .github/pictures/take.sh
set -euo pipefail
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cdcsim compare orders -f canal-json -f dts-canal-json -f maxwell-json --source mysql --start-at 2 --limit 60 --html "$folder/page.html"
"${CDCSIM_CHROMIUM:-chromium}" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$folder/profile" --virtual-time-budget=6000 \
  --window-size=1100,920 --screenshot="$PWD/page.png" "file://$folder/page.html#messages?kind=update&event=3" 2>"$folder/log" || cat "$folder/log"
