//go:build slow || e2e

package main

import (
	"bytes"
	"image"
	"image/png"
	"strconv"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// seeing is a program that says how large the images are that it is given.
const seeing = `#!/bin/sh
sed -n 's/^ *"\(\/.*\.png\)",*$/\1/p' "$REPRISE_TASK_FILE" | while read -r file; do wc -c <"$file"; done >hello.txt
echo "$REPRISE_STEP $$" >>hello.txt
echo done >"$REPRISE_ARTIFACT"
echo '{"text": "Done.", "structured": {"remaining": []}}'
`

// A job gives its agents the images of the issue and of a comment, and the live comment
// says which it does not give.
func TestImagesInAJob(t *testing.T) {
	h := newFaulty(t)
	h.write("bin/worker", seeing)
	h.mayRun("bin/worker")
	var picture bytes.Buffer
	testenv.Must(t, png.Encode(&picture, image.NewGray(image.Rect(0, 0, 30, 20))))
	attached := githubtest.Attach(t, h.forge)
	address := attached.Add("0a1b2c3d-0000-4000-8000-000000000001", picture.Bytes(), true)
	h.forge.ChangeIssue(hubRepo, hubIssue, func(is *githubtest.Issue) { is.Body = "It is ![so](https://example.com/so.png)." })
	h.say("ada", "And ![not so]("+address+").")
	h.comment("ada", "/run").end(exit.Done).wants("status", "completed")
	seen, err := testenv.Git(h.path("origin.git"), "show", "reprise/issue-7:hello.txt")
	if size, _, _ := strings.Cut(strings.TrimSpace(seen), "\n"); err != nil || strings.TrimSpace(size) != strconv.Itoa(picture.Len()) {
		t.Errorf("the agent was given images of %q bytes, want %d (%v)", seen, picture.Len(), err)
	}
	live := h.ours("progress")[0].Body
	testenv.Has(t, "the live comment", live, "Image 1 is not given: GitHub keeps no attachments at example.com")
	if got := attached.Asked(); len(got) != 1 || !strings.HasPrefix(got[0], "/signed/") {
		t.Errorf("asked for %q", got)
	}
}
