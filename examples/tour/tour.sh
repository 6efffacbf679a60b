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
HOME=$scratch/home REPRISE_HOME=$scratch/runs NO_COLOR=1
GIT_CONFIG_GLOBAL=$scratch/home/.gitconfig GIT_CONFIG_NOSYSTEM=1
export HOME REPRISE_HOME NO_COLOR GIT_CONFIG_GLOBAL GIT_CONFIG_NOSYSTEM
unset CI GITHUB_ACTIONS
mkdir -p "$HOME"
git config --global user.name Ada
git config --global user.email ada@example.com
git config --global init.defaultBranch main

# Something to work on, with a place to push to.
cp -R "$here" "$scratch/tour"
git init --quiet "$scratch/greet"
cd "$scratch/greet"
echo 'echo hello' >greet.sh
git add greet.sh
git commit --quiet -m 'Say hello'
git clone --quiet --bare . ../origin.git
git remote add origin ../origin.git

# say TEXT... prints what comes next.
say() { printf '\n%s\n' "$*"; }

# reprise CODE ARGUMENT... shows a command and what it prints. It has to end
# with that exit code.
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
	printf '\n'
	"$REPRISE" "$@" 2>&1 || code=$?
	printf '```\n'
	if [ "$code" != "$want" ]; then
		echo "exit code $code, want $want" >&2
		exit 1
	fi
}

# begin ARGUMENT... starts a run that takes long, and returns once its agent
# is at work.
begin() {
	"$REPRISE" run "$@" >"$scratch/log" 2>&1 &
	other=$!
	until grep -q 'code *revise.* starts' "$scratch/log"; do
		kill -0 "$other" || { cat "$scratch/log" >&2; exit 1; }
		sleep 0.05
	done
}

# over waits for that run to end, as another process told it to.
over() {
	wait "$other" || :
	other=
}

tour=../tour

say '## What would happen'
say 'The labels of the issue choose a pipeline, here the one in
[tour.cue](../examples/tour/tour.cue). Nothing is done yet.'
reprise 0 explain --issue-file $tour/issue.md --pipeline $tour/tour.cue

say '## A question'
say 'The planner does not know enough. It asks, and the run ends with exit code 3:
it waits for a person. On GitHub the question stands in the comment of the run.'
reprise 3 run --issue-file $tour/issue.md --pipeline $tour/tour.cue --push --stubs $tour/answers/1-ask.yaml
say 'The answer is kept with the run. The agent goes on in its session; its review
suggests something, and this phase acts on that. Then a maintainer is asked.'
reprise 0 answer --issue 7 --text 'Hello, as today.'
reprise 3 run --issue 7 --stubs $tour/answers/2-plan.yaml

say '## Approval'
say 'No, not so. The reason is what the agent is told first.'
reprise 0 reject --issue 7 --phase plan --reason 'Names may have spaces in them.'
reprise 0 prompt --issue 7 --phase plan --step revise
reprise 3 run --issue 7 --stubs $tour/answers/2-plan.yaml
say 'Yes. An approval is for what was looked at: any change to it, and going back,
takes it away again.'
reprise 0 approve --issue 7 --phase plan

say '## Rules, and the budget'
say 'The plan was of high risk: rules of the pipeline have put `design` in, left
`sketch` out, and given the work to the expert. The design costs more than the
budget allows. The run stops with nothing lost, and more money goes on.'
reprise 4 run --issue 7 --stubs $tour/answers/3-dear.yaml
say 'Now `code`: its check fails, and so does its review; after a revise both hold,
but two suggestions are one too many for a rule, which takes the phase back.
`docs` is so small that a rule spares the review. Then `evaluate` is sure that
`docs` has to be done again: the run goes back by itself, and the reason goes
with it. There the review fails until no revise is left.'
reprise 1 run --issue 7 --budget-usd 5 --stubs $tour/answers/4-code.yaml
reprise 0 status --issue 7
say '## Trying again'
say 'A retry gives the phase all its revises again. This time it holds, and a rule
asks for approval at the end.'
reprise 3 retry --issue 7
say 'Nobody needs to write to the users. What other phases need cannot be left out.'
reprise 2 skip --issue 7 --phase code --reason 'It is there.'
reprise 0 skip --issue 7 --phase announce --reason 'It is too small for that.'
reprise 0 approve --issue 7
reprise 0 run --issue 7

say '## Going back'
say 'Any phase can be taken back, with a reason. First what that would do:'
reprise 0 rollback --issue 7 --to-phase code --reason 'Greet everybody who is named.' --restore --dry-run
reprise 0 rollback --issue 7 --to-phase code --reason 'Greet everybody who is named.' --restore

say '## Stopping a run that is at work'
say 'Another process works on the run. What its agent had changed is kept as a
patch, and the branch says how far it is.'
begin --issue 7 --stubs $tour/answers/5-slow.yaml
reprise 0 pause --issue 7 --reason 'Wait for the release.'
over
begin --issue 7 --stubs $tour/answers/5-slow.yaml
reprise 0 cancel --issue 7 --reason 'It is the wrong issue.'
over

say '## What there is in the end'
say 'Everything that happened is on the branch, one commit for each step, and was
pushed. `reprise run --issue 7` would go on from here.'
reprise 0 status --issue 7
reprise 0 history --issue 7
