// Package e2e is the proof that reprise works with the real programs around
// it. Its tests run Claude Code, Codex and Gemini CLI, as they come from npm, against the
// scripted model of package modelserver; and the workflow that init writes,
// with the action, under act against the GitHub of package githubtest. Runs in a
// repository with Git LFS have the real git-lfs and a server of ours. There is no
// key, no network and no bill.
//
// The agent programs are pinned in package-lock.json, act in act.mod and git-lfs
// in lfs.mod. To run the tests:
//
//	npm ci --prefix internal/e2e
//	go test -tags e2e ./internal/e2e/
//
// TestRelease rehearses a release, for all platforms unless REPRISE_E2E_PLATFORMS is host.
//
// Those with act alone: -run 'Workflow|Actions'. The first of them builds act,
// which takes minutes once.
package e2e
