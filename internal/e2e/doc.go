// Package e2e is the proof that reprise works with the real agent programs.
// Its tests run Claude Code and Codex, as they come from npm, against the
// scripted model of package modelserver: no key, no network, no bill.
//
// The programs are pinned in package-lock.json. To run the tests:
//
//	npm ci --prefix internal/e2e
//	go test -tags e2e ./internal/e2e/
package e2e
