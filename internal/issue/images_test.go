package issue

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	diff "github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/github"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

const widget = "acme/widget"

// picture is a PNG of that size.
func picture(width, height int) []byte {
	var b bytes.Buffer
	_ = png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))) // a buffer takes all
	return b.Bytes()
}

func id(n int) string { return fmt.Sprintf("0a1b2c3d-0000-4000-8000-%012d", n) }

// stand is a GitHub with an issue, and attachments.
type stand struct {
	*githubtest.Server
	*githubtest.Attached
	thread *github.Thread
	warned []string
}

func newStand(t *testing.T) *stand {
	t.Helper()
	s := &stand{Server: githubtest.New(t)}
	s.Attached = githubtest.Attach(t, s.Server)
	s.AddToken("hush", "ada")
	s.Permit(widget, "ada", "write")
	gh, err := github.New(github.Options{APIURL: s.URL, Token: "hush", Sleep: func(context.Context, time.Duration) error { return nil }})
	testenv.Must(t, err)
	s.thread = gh.In("acme/widget").Thread(7)
	return s
}

// of is an issue with that text, and a comment.
func (s *stand) of(body, comment string) Issue {
	s.AddIssue(widget, githubtest.Issue{Number: 7, Title: "Say hello", Author: "ada", Body: body})
	is := Issue{ID: "7", Body: body}
	if comment != "" {
		said := s.AddComment(widget, 7, githubtest.Comment{Author: "ada", Body: comment})
		is.Discussion.Comments = []Comment{{ID: said, By: "ada", Text: comment}}
	}
	return is
}

func (s *stand) fetch(t *testing.T, is Issue) []Image {
	t.Helper()
	all, err := FetchImages(t.Context(), s.thread, is)
	testenv.Must(t, err)
	return all
}

// shelf keeps the images of an issue in a folder.
func (s *stand) shelf(dir string, is Issue) *imageShelf {
	return &imageShelf{
		Dir: dir, Issue: is, Words: prompts.Words("en"), Warn: func(line string) { s.warned = append(s.warned, line) },
		Place: func() (*github.Thread, error) { return s.thread, nil },
	}
}

func said(is Issue) prompts.Issue {
	return prompts.Issue{Body: is.Body, Said: is.Discussion.Said()}
}

// Public images and those of a private repository are fetched, from the body and from
// comments, kept once, and named at the end of the text; on another machine they are fetched again.
func TestSee(t *testing.T) {
	s := newStand(t)
	open, private := s.Add(id(1), picture(3, 2), false), s.Add(id(2), picture(4, 2), true)
	is := s.of("Before ![the page]("+open+") after.\n\n![again]("+open+")", `As <img width="10" alt="x" src="`+private+`" /> here.`)
	is.Images = s.fetch(t, is)
	for i, got := range is.Images {
		if got.Type != "png" || got.Size == 0 || len(got.Data) != got.Size || got.Why != "" {
			t.Errorf("image %d: %+v", i+1, got.Image)
		}
	}
	dir := filepath.Join(t.TempDir(), "a run", "images")
	told, files := s.shelf(dir, is).See(t.Context(), said(is))
	if len(files) != 2 || told.Images != dir {
		t.Fatalf("files %q in %q", files, told.Images)
	}
	want := is.Body + "\n" + open + " (image 1: " + files[0] + ")"
	if diff := diff.Diff(want, told.Body); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if want := "/> here.\n" + private + " (image 2: " + files[1] + ")"; !strings.HasSuffix(told.Said[0].Text, want) {
		t.Errorf("the comment reads %q, want the end %q", told.Said[0].Text, want)
	}
	if data, err := os.ReadFile(files[1]); err != nil || !bytes.Equal(data, picture(4, 2)) {
		t.Errorf("it has %d bytes, %v", len(data), err)
	}

	// What the record has, and no bytes: here they are there, elsewhere they are not.
	is.Images = Kept(is.Record())
	asked := len(s.Asked())
	if again, _ := s.shelf(dir, is).See(t.Context(), said(is)); again.Body != told.Body || len(s.Asked()) != asked {
		t.Errorf("with the files there, %q was asked for, and it reads %q", s.Asked()[asked:], again.Body)
	}
	elsewhere := t.TempDir()
	if _, files := s.shelf(elsewhere, is).See(t.Context(), said(is)); len(files) != 2 || len(s.warned) > 0 {
		t.Errorf("elsewhere there are %q, %q", files, s.warned)
	}
	testenv.Must(t, os.Remove(files[0]))
	testenv.Must(t, os.WriteFile(files[0], []byte("something else"), 0o600))
	s.shelf(dir, is).See(t.Context(), said(is))
	if data, _ := os.ReadFile(files[0]); !bytes.Equal(data, picture(3, 2)) {
		t.Errorf("what somebody has put there was not replaced: %q", data)
	}
}

// The address of an image is the one that a browser takes.
func TestSeen(t *testing.T) {
	for text, want := range map[string]string{
		`<img alt=" src='https://a.test/hidden'" src="https://a.test/shown">`:        "https://a.test/shown",
		`<img alt="a > b < c" src='https://a.test/shown' title="x>">`:                "https://a.test/shown",
		`<IMG width=3 hidden src=https://a.test/shown src="https://a.test/second"/>`: "https://a.test/shown",
		`<img data-src="https://a.test/hidden">`:                                     "",
		"`<img src=\"https://a.test/code\">`":                                        "",
	} {
		if got := strings.Join(seen(text), " "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// A record that somebody has pushed names no file outside of the folder.
func TestFileOfAnotherRecord(t *testing.T) {
	sum := "sha256:" + strings.Repeat("0a", 32)
	for _, image := range []metadata.Image{{Digest: sum, Type: "/../../../x"}, {Digest: sum, Type: "svg"}, {Digest: "sha256:/../../../../x", Type: "png"}, {Type: "png"}} {
		if name := (&imageShelf{Dir: "images"}).file(0, Image{Image: image}); name != "" {
			t.Errorf("%+v is in %s", image, name)
		}
	}
	if name := (&imageShelf{Dir: "images"}).file(0, Image{Image: metadata.Image{Digest: sum, Type: "png"}}); name != filepath.Join("images", "1-0a0a0a0a0a0a.png") {
		t.Errorf("it is in %q", name)
	}
}

// What is gone, or another one since, is said, and the others are there.
func TestGone(t *testing.T) {
	s := newStand(t)
	one, two, three := s.Add(id(1), picture(1, 1), false), s.Add(id(2), picture(2, 2), false), s.Add(id(3), picture(3, 3), false)
	is := s.of("![]("+one+") ![]("+two+") ![]("+three+")", "")
	is.Images = Kept(metadata.Issue{Images: Issue{Images: s.fetch(t, is)}.Record().Images})
	s.Remove()
	s.Add(id(2), picture(9, 9), false)
	s.Add(id(3), picture(3, 3), true)
	told, files := s.shelf(t.TempDir(), is).See(t.Context(), said(is))
	for _, want := range []string{
		"(image 1 is not given: GitHub does not give it (status 404))",
		"(image 2 is not given: it is another image now than when the run took the issue)", "(image 3: ",
	} {
		if !strings.Contains(told.Body, want) {
			t.Errorf("%q is not in\n%s", want, told.Body)
		}
	}
	if len(files) != 1 || len(s.warned) != 2 {
		t.Errorf("files %q, told of %q", files, s.warned)
	}
}

// What is not fetched has a reason, and asks nobody else's server.
func TestNotFetched(t *testing.T) {
	s := newStand(t)
	large := append(picture(1, 1), make([]byte, mostBytes)...)
	is := s.of(strings.Join([]string{
		"![](https://example.com/spy.png)", "![](http://169.254.169.254/latest/x.png)", "![](" + s.URL + "/acme/widget/raw/main/x.png)",
		"![](https://github.com.evil.example/user-attachments/assets/" + id(9) + ")", "![](https://ada:secret@github.com/user-attachments/assets/" + id(9) + ")",
		"![](" + s.Add(id(1), []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`), false) + ")",
		"![](" + s.Add(id(2), large, false) + ")",
		"![](" + s.Add(id(3), picture(mostSide+1, 1), false) + ")",
		"![](" + s.URL + "/user-attachments/assets/" + id(4) + ")",
		"<!-- ![](" + s.Add(id(5), picture(1, 1), false) + ") -->", "`![](" + s.Add(id(6), picture(1, 1), false) + ")`",
		"![local](docs/x.png)",
	}, "\n\n"), "")
	var got []string
	for _, i := range s.fetch(t, is) {
		got = append(got, i.Why.In(prompts.Words("en")))
	}
	host := strings.TrimPrefix(s.URL, "http://")
	nowhere := func(host string) string { return "GitHub keeps no attachments at " + host }
	if diff := diff.Diff([]string{
		nowhere("example.com"), nowhere("169.254.169.254"), nowhere(host), nowhere("github.com.evil.example"), nowhere("github.com"),
		"it is no PNG, JPEG, GIF or WebP", "it has more than 5 MB", fmt.Sprintf("it has %d × 1 pixels, which is too many or none", mostSide+1),
		"GitHub does not give it (status 404)",
	}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, path := range s.Asked() {
		if strings.Contains(path, id(5)) || strings.Contains(path, id(6)) || strings.Contains(path, "raw") {
			t.Errorf("%s was asked for", path)
		}
	}
}

// However many there are, ten are fetched, with a number of calls that is bounded.
func TestMany(t *testing.T) {
	s := newStand(t)
	var b strings.Builder
	for i := range 50 {
		fmt.Fprintf(&b, "![](%s)\n", s.Add(id(i), picture(i+1, 1), false))
	}
	before := s.Counts().Calls
	all := s.fetch(t, s.of(b.String(), b.String()))
	given := 0
	for _, i := range all {
		if i.Digest != "" {
			given++
		}
	}
	if given != most || len(all) != noted || len(s.Asked()) != most || s.Counts().Calls-before > 1 {
		t.Errorf("%d of %d given, %d asked for, %d calls", given, len(all), len(s.Asked()), s.Counts().Calls-before)
	}
}

func TestKindOf(t *testing.T) {
	var jpg, anim bytes.Buffer
	_ = jpeg.Encode(&jpg, image.NewGray(image.Rect(0, 0, 5, 6)), nil)
	_ = gif.Encode(&anim, image.NewGray(image.Rect(0, 0, 5, 6)), nil)
	made := func(chunk string, body ...byte) []byte {
		if chunk == "VP8X" {
			body = append(body, make([]byte, 10-len(body))...)
		} else {
			body = append(body, make([]byte, 30)...)
		}
		size := func(n int) string { return string(binary.LittleEndian.AppendUint32(nil, uint32(n))) }
		return []byte("RIFF" + size(12+len(body)) + "WEBP" + chunk + size(len(body)) + string(body))
	}
	for _, tt := range []struct {
		name, want string
		data       []byte
	}{
		{"png", "png", picture(5, 6)},
		{"jpeg", "jpeg", jpg.Bytes()},
		{"gif", "gif", anim.Bytes()},
		{"lossy webp", "webp", made("VP8 ", 0, 0, 0, 0x9d, 1, 0x2a, 5, 0, 6, 0)},
		{"lossless webp", "webp", made("VP8L", 0x2f, 4, 0x40, 1, 0)},
		{"extended webp", "webp", made("VP8X", 0, 0, 0, 0, 4, 0, 0, 5, 0, 0)},
		{"webp of no frame", "", made("ANIM")},
		{"large webp", "", made("VP8X", 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)},
		{"bomb", "", picture(mostSide, mostArea/mostSide+1)},
		{"text", "", []byte("<!doctype html>")},
		{"cut off", "", picture(5, 6)[:20]},
		{"empty", "", nil},
	} {
		var got Image
		if got.take(tt.data); got.Type != tt.want || (got.Why == "") != (tt.want != "") {
			t.Errorf("%s: %q, %s", tt.name, got.Type, got.Why)
		}
	}
}

// roads answers for hosts of the internet.
type roads struct {
	answers map[string]func() (status int, location string, body []byte)
	asked   []string
}

func (r *roads) RoundTrip(req *http.Request) (*http.Response, error) {
	at := req.URL.Host + req.URL.Path
	if req.Header.Get("Authorization") != "" {
		at += " with the token"
	}
	r.asked = append(r.asked, at)
	answer := r.answers[req.URL.Host+req.URL.Path]
	if answer == nil {
		answer = func() (int, string, []byte) { return http.StatusNotFound, "", nil }
	}
	status, location, body := answer()
	resp := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(body)), Request: req}
	if location != "" {
		resp.Header.Set("Location", location)
	}
	return resp, nil
}

// At github.com the token goes to the API alone, and a way that leads out of GitHub is not
// taken.
func TestGitHub(t *testing.T) {
	found := func(body []byte) func() (int, string, []byte) {
		return func() (int, string, []byte) { return http.StatusOK, "", body }
	}
	leads := func(to string) func() (int, string, []byte) {
		return func() (int, string, []byte) { return http.StatusFound, to, nil }
	}
	asset := func(n int) string { return "github.com/user-attachments/assets/" + id(n) }
	const store, signed = "github-production-user-asset-6210df.s3.amazonaws.com/1/2.png", "private-user-images.githubusercontent.com/1/2-"
	tries := 0
	r := &roads{answers: map[string]func() (int, string, []byte){
		"api.github.com/repos/acme/widget/issues/7": found([]byte(`{"body_html":"<a><img src=\"https://` + signed + id(2) + `.png?jwt=a&amp;b=c\" alt=\"x\"></a>"}`)),
		asset(1):                leads("https://" + store + "?X-Amz-Signature=1"),
		store:                   found(picture(1, 1)),
		signed + id(2) + ".png": found(picture(2, 1)),
		asset(3):                leads("https://example.com/3.png"),
		"example.com/3.png":     found(picture(3, 1)),
		asset(4):                leads("http://" + store),
		"user-images.githubusercontent.com/1/5-" + id(5) + ".png": func() (int, string, []byte) {
			if tries++; tries == 1 {
				return http.StatusBadGateway, "", nil
			}
			return http.StatusOK, "", picture(5, 1)
		},
	}}
	gh, err := github.New(github.Options{Token: "hush", HTTP: &http.Client{Transport: r}, Sleep: func(context.Context, time.Duration) error { return nil }})
	testenv.Must(t, err)
	var body string
	for n := range 4 {
		body += "![](https://" + asset(n+1) + ")\n"
	}
	body += "![](https://user-images.githubusercontent.com/1/5-" + id(5) + ".png)"
	all, err := FetchImages(t.Context(), gh.In("acme/widget").Thread(7), Issue{Body: body})
	testenv.Must(t, err)
	var got []string
	for _, i := range all {
		got = append(got, cmp.Or(i.Why.In(prompts.Words("en")), i.Type))
	}
	const elsewhere = "GitHub leads to a place that is not its own"
	if diff := diff.Diff([]string{"png", "png", elsewhere, elsewhere, "png"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := diff.Diff([]string{
		"api.github.com/repos/acme/widget/issues/7 with the token", asset(1), store, signed + id(2) + ".png", asset(3), asset(4),
		"user-images.githubusercontent.com/1/5-" + id(5) + ".png", "user-images.githubusercontent.com/1/5-" + id(5) + ".png",
	}, r.asked); diff != "" {
		t.Errorf("asked for (-want +got):\n%s", diff)
	}
}
