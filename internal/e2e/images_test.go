//go:build e2e

package e2e

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	m "github.com/reprise-ci/reprise/internal/test/model"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// imageFile finds the file of the first image in a prompt.
var imageFile = regexp.MustCompile(`\(image 1: (/[^)]+\.png)\)`)

// A whole run in the sandbox: the image of an issue of a private repository is fetched, and its
// pixels reach the model: claude reads the file with its tool, and codex hands it over
// with the prompt. Neither the branch nor the work tree has it.
func TestRunShowsImages(t *testing.T) {
	each(t, func(t *testing.T, use string) {
		p := newPlace(t)
		picture := image.NewRGBA(image.Rect(0, 0, 64, 48))
		for x := range 64 {
			picture.Set(x, 20, color.RGBA{200, 30, 30, 255})
		}
		var file bytes.Buffer
		testenv.Must(t, png.Encode(&file, picture))
		gh := githubtest.New(t)
		attached := githubtest.Attach(t, gh)
		gh.AddToken("hush", "ada")
		gh.Permit("acme/widget", "ada", "write")
		address := attached.Add("0a1b2c3d-0000-4000-8000-000000000001", file.Bytes(), true)
		gh.AddIssue("acme/widget", githubtest.Issue{
			Number: 7, Title: "The line is red", Author: "ada",
			Body: "It looks so:\n\n![the page](" + address + ")\n\nand not so: ![spy](https://example.com/spy.png)",
		})
		p.more = append(p.more, "GITHUB_API_URL="+gh.URL, "GITHUB_TOKEN=hush")
		p.write("seeing.cue", `name: "seeing"
agents: writer: use: "`+use+`"
phases: [{name: "analyze", goal: "Say what the image shows.", writes: "analysis.md", review: false}]
`)
		var seen [][]byte
		p.says(func(r m.Request) m.Reply {
			for _, message := range r.Messages {
				seen = append(seen, message.Images...)
			}
			// codex puts its images before the words of the prompt, in a message with them.
			all := strings.Join(r.Prompts(), "\n")
			path, shown := artifact.FindStringSubmatch(all), imageFile.FindStringSubmatch(all)
			switch {
			case path == nil || shown == nil:
				return m.Say("I see no file.")
			case use == "claude" && len(r.Results()) == 0:
				return m.Tool("Read", map[string]string{"file_path": shown[1]})
			case len(r.Results()) == 0 || use == "claude" && len(r.Results()) == 1:
				return m.Write(path[1], "# What it shows\n\nA red line.\n")
			}
			return m.Say("Done.")
		})
		out := p.reprise("run", "--issue", gh.URL+"/acme/widget/issues/7", "--pipeline", "../seeing.cue", "--push", "--sandbox", "required")
		p.want(0, out)
		if len(seen) == 0 {
			t.Fatalf("the model has seen no image:\n%s%s", out.stdout, out.stderr)
		}
		got, _, err := image.Decode(bytes.NewReader(seen[0]))
		if err != nil || got.Bounds().Dx() != 64 || got.Bounds().Dy() != 48 {
			t.Fatalf("it has seen an image of %d bytes, %v", len(seen[0]), err)
		}
		if r, g, _, _ := got.At(10, 20).RGBA(); r>>8 < 150 || g>>8 > 80 {
			t.Errorf("the line is not red: %v", got.At(10, 20))
		}
		run := p.record()
		if run.Status != metadata.Completed || len(run.Issue.Images) != 2 || run.Issue.Images[0].Digest == "" || run.Issue.Images[1].Why == "" {
			t.Errorf("the run is %s with the images %+v", run.Status, run.Issue.Images)
		}
		testenv.Has(t, "the log", out.stderr, "agents are given 1 image of the issue", "image 2 is not given: GitHub keeps no attachments at example.com")
		testenv.Lacks(t, "the branch", p.git(p.repo, "ls-tree", "-r", "--name-only", "reprise/issue-7"), ".png")
		if left, _ := filepath.Glob(filepath.Join(p.repo, "*.png")); len(left) > 0 {
			t.Errorf("the work tree has %q", left)
		}
	})
}
