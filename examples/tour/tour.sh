#!/bin/sh
# A walk through everything reprise does, in a repository that is made for it
# and removed at the end. It needs go and git, no key and no network; what it
# prints is Markdown. Another program than the one of this checkout:
#
#   REPRISE=reprise sh examples/tour/tour.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
other= # a process that works on the run
trap 'if [ -n "$other" ]; then kill "$other" 2>/dev/null || :; wait "$other" || :; fi; rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

if [ -z "${REPRISE:-}" ]; then
	REPRISE=$scratch/reprise
	(cd "$here/../.." && go build -o "$REPRISE" ./cmd/reprise)
fi
case $REPRISE in
*/*) REPRISE=$(cd "$(dirname "$REPRISE")" && pwd)/$(basename "$REPRISE") ;; # it is started elsewhere
*) REPRISE=$(command -v "$REPRISE") ;; # below, reprise is a function
esac
HOME=$scratch/home REPRISE_HOME=$scratch/runs NO_COLOR=1
GIT_CONFIG_GLOBAL=$scratch/home/.gitconfig GIT_CONFIG_NOSYSTEM=1
export HOME REPRISE_HOME NO_COLOR GIT_CONFIG_GLOBAL GIT_CONFIG_NOSYSTEM
unset CI GITHUB_ACTIONS
mkdir -p "$HOME"
git config --global user.name Ada
git config --global user.email ada@example.com
git config --global init.defaultBranch main

# Something to work on, with a place to push to.
mkdir -p "$scratch/greet/.github/reprise/pipelines"
cd "$scratch/greet"
git init --quiet .
echo 'echo hello' >greet.sh
cp "$here/tour.cue" .github/reprise/pipelines/
cp "$here/issue.md" ..
cp -R "$here/answers" ..
git add .
git commit --quiet -m 'Say hello'
git clone --quiet --bare . ../origin.git
git remote add origin ../origin.git

# say TEXT... prints what comes next.
say() { printf '\n%s\n' "$*"; }

# brief leaves out of what a command prints the time, which steps begin, and what is said twice.
brief() {
	sed -E -e '/ > (starts|goes on)/d' -e '/^(time \(UTC\)|reprise: pipeline .*|Issue [0-9]+: .*|Branch .*|Commit .*|Continue with one of:|)$/d' -e 's/^..:..:..  //' -e 's/^ +- /  - /'
}

# reprise CODE ARGUMENT... shows a command and what it prints, or the part of
# that which a filter named in $only leaves. It has to end with that exit code.
only=
reprise() {
	want=$1 code=0
	shift
	printf '\n```console\n$ reprise'
	for arg; do
		case $arg in
		*[!A-Za-z0-9_./=-]*) printf " '%s'" "$arg" ;;
		*) printf ' %s' "$arg" ;;
		esac
	done
	printf '%s\n' "${only:+ | $only}"
	case $1 in
	run | retry | answer | approve | skip | pause | cancel) only=brief ;;
	esac
	"$REPRISE" "$@" >"$scratch/out" 2>&1 || code=$?
	eval "${only:-cat}" <"$scratch/out"
	printf '```\n'
	only=
	if [ "$code" != "$want" ]; then
		cat "$scratch/out" >&2
		echo "exit code $code, want $want" >&2
		exit 1
	fi
}

# begin STUBS starts to work on the run in another process, and returns once
# its agent is at work.
begin() {
	"$REPRISE" run --issue 7 --log verbose --stubs "$1" >"$scratch/log" 2>&1 &
	other=$!
	for _ in $(seq 600); do
		! grep -q 'revise code' "$scratch/log" || return 0
		sleep 0.05
	done
	cat "$scratch/log" >&2
	exit 1
}

# over waits for that process, which was told to stop.
over() {
	wait "$other" || :
	other=
}

say '## What would happen'
say 'The label of the issue chooses the pipeline, [tour.cue](../examples/tour/tour.cue):'
reprise 0 explain --issue-file ../issue.md

say '## A question'
say 'The planner does not know enough. The run waits for a person:'
reprise 3 run --issue-file ../issue.md --push --stubs ../answers/1-ask.yaml
reprise 0 answer --issue 7 --text 'Hello, as today.'
say 'The agent goes on in its session. It acts on what its review suggests, and a maintainer is asked:'
reprise 3 run --issue 7 --stubs ../answers/2-plan.yaml

say '## A no, and a yes'
say 'The maintainer takes the plan back. The reason is the first thing that the next agent is told:'
only='tail -1'
reprise 0 rollback --issue 7 --to-phase plan --reason 'Names may have spaces in them.'
only='head -7'
reprise 0 explain --issue 7 --phase plan --step revise
say 'It is planned anew, and the maintainer approves. If the plan changes later, that approval is void.'
"$REPRISE" run --issue 7 --stubs ../answers/2-plan.yaml >"$scratch/out" 2>&1 || [ $? = 3 ]
reprise 0 approve --issue 7 --phase plan

say '## Rules, and the budget'
say 'The plan found a high risk, so rules gave the work to the expert. The design costs more than the budget allows. Nothing is lost:'
reprise 4 run --issue 7 --stubs ../answers/3-dear.yaml
say 'With more money it goes on. A change of a protected file is reverted. A check and a review fail, and pass after a revision. Two suggestions are
too many for a rule, and `evaluate` sends `docs` back. Its review fails, and no revision is left:'
reprise 1 run --issue 7 --more usd=5 --stubs ../answers/4-code.yaml

say '## Trying again'
say 'A retry gives the phase all its revisions again. `announce` is left out, and a rule asks for an approval:'
reprise 3 retry --issue 7
reprise 0 skip --issue 7 --phase announce --reason 'It is too small for that.'
reprise 0 approve --issue 7
reprise 0 run --issue 7

say '## Going back'
say 'First what it would do:'
only='sed -n 3,10p'
reprise 0 rollback --issue 7 --to-phase code --reason 'Greet everybody.' --restore --dry-run
only='tail -1'
reprise 0 rollback --issue 7 --to-phase code --reason 'Greet everybody.' --restore

say '## Stopping a run that is at work'
say 'Another process works on the run. What its agent had changed is kept as a patch.'
begin ../answers/5-slow.yaml
reprise 0 pause --issue 7 --reason 'Wait for the release.'
over
begin ../answers/5-slow.yaml
reprise 0 cancel --issue 7 --reason 'It is the wrong issue.'
over

say '## What there is in the end'
say 'Each step is one commit, and was pushed. `reprise run --issue 7` would go on from here, and `reprise history --issue 7` shows all of it.'
only="grep -E '^(cancelled|.  [0-9])'"
reprise 0 status --issue 7
