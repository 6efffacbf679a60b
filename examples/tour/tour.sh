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
say 'The label of the issue chooses the pipeline, [tour.cue](../examples/tour/tour.cue).
Nothing is done yet. Of what is printed, the phases, those that a rule may insert, and the rules:'
only="grep -E '^(tour: the|[a-z]+:$|  - (name|after)|    then)'"
reprise 0 explain --issue-file ../issue.md
say 'A preset runs only a part of it, for less money:'
only="grep -E '^(phases:|spare:|  - name)'"
reprise 0 explain --issue-file ../issue.md --pipeline tour/quick

say '## A question'
say 'The planner does not know enough. It asks, and the run ends with exit code 3:
it waits for a person. On GitHub the question stands in the comment of the run.'
reprise 3 run --issue-file ../issue.md --push --stubs ../answers/1-ask.yaml
say 'The answer is kept with the run, and the agent goes on in its session. Its
review suggests something, and this phase acts on that. Then a maintainer is
asked.'
reprise 0 answer --issue 7 --text 'Hello, as today.'
reprise 3 run --issue 7 --stubs ../answers/2-plan.yaml

say '## Approval'
say 'The maintainer says no. The reason is the first thing that the agent is told.'
reprise 0 rollback --issue 7 --to-phase plan --reason 'Names may have spaces in them.'
only='head -7'
reprise 0 explain --issue 7 --phase plan --step revise
reprise 3 run --issue 7 --stubs ../answers/2-plan.yaml
say 'The new plan is approved. An approval is for what was looked at: if that
changes, or the run goes back, it is void.'
reprise 0 approve --issue 7 --phase plan

say '## Rules, and the budget'
say 'The plan found a high risk: rules have put `design` in, left `sketch` out, and
given the work to the expert. The design costs more than the budget allows. The
run stops with nothing lost.'
reprise 4 run --issue 7 --stubs ../answers/3-dear.yaml
say 'With more money it goes on. The first code changes a protected file, which is
reverted; the check fails, and so does the review. After a revision both pass, but
two suggestions are one too many for a rule, which takes the phase back. The
change of `docs` is so small that a rule skips its review. Then `evaluate` is sure
that `docs` has to be done again: the run goes back by itself, and the agent is
told the reason. Now the review of `docs` fails, and no revision is left.'
reprise 1 run --issue 7 --more usd=5 --stubs ../answers/4-code.yaml
reprise 0 status --issue 7

say '## Trying again'
say 'A retry gives the phase all its revisions again. This time the review passes, and
a rule asks for an approval at the end. The phase `announce` is not needed here,
so it is skipped.'
reprise 3 retry --issue 7
reprise 0 skip --issue 7 --phase announce --reason 'It is too small for that.'
reprise 0 approve --issue 7
reprise 0 run --issue 7

say '## Going back'
say 'Any phase can be taken back, with a reason. First what that would do:'
reprise 0 rollback --issue 7 --to-phase code --reason 'Greet everybody.' --restore --dry-run
only='tail -1'
reprise 0 rollback --issue 7 --to-phase code --reason 'Greet everybody.' --restore

say '## Stopping a run that is at work'
say 'Another process works on the run. It is told to stop; the branch says how far
it is, and what its agent had changed is kept as a patch.'
begin ../answers/5-slow.yaml
reprise 0 pause --issue 7 --reason 'Wait for the release.'
over
begin ../answers/5-slow.yaml
reprise 0 cancel --issue 7 --reason 'It is the wrong issue.'
over

say '## What there is in the end'
say 'Everything that happened is on the branch, one commit for each step, and was
pushed. `reprise run --issue 7` would go on from here.'
reprise 0 status --issue 7
only='cut -c 22-'
reprise 0 history --issue 7
