package inbox

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/metadata"
)

// When too many strangers have asked for something, the others wait. Those whom the forge calls
// somebody do not, nor does what this job is for, nor where it is known who may.
func TestWhoWaits(t *testing.T) {
	now := time.Now()
	comment := func(id int64, by, association string) github.Comment {
		return github.Comment{ID: id, Body: "/pause", Author: github.User{Login: by}, Association: association, CreatedAt: now}
	}
	mine := comment(3, "pat", "NONE")
	seen := func(change func(*Source), room int) string {
		from := Source{Env: environ.Env{Now: func() time.Time { return now }}, Trigger: Trigger{Comment: &mine}}
		if change != nil {
			change(&from)
		}
		in := New(from)
		in.lookups = room
		in.low["known"] = lowRole{github.RoleRead, now.Add(time.Minute)}
		in.list = []github.Comment{comment(1, "eve", "NONE"), comment(2, "ada", "MEMBER"), mine, comment(4, "tom", "CONTRIBUTOR"), comment(5, "known", "NONE"), comment(6, "lint[bot]", "NONE")}
		in.given = []Review{{ID: 1, State: ReviewCommented, Body: "/pause", Author: github.User{Login: "rob"}, Association: "NONE", At: now.Add(time.Minute)}}
		var all []string
		for _, c := range in.Pending(metadata.Run{}) {
			all = append(all, c.Comment.Author.Login)
		}
		return strings.Join(all, " ")
	}
	for _, tt := range []struct {
		name   string
		change func(*Source)
		room   int
		want   string
	}{
		{"few have asked", nil, 1, "eve ada pat tom known rob"},
		{"many have asked", nil, 0, "ada pat known"},
		{"the workflow names who may", func(s *Source) { s.In.Users = []string{"ada"} }, 0, "eve ada pat tom known rob"},
		{"a program that is named", func(s *Source) { s.In.Bots = []string{"lint[bot]"} }, 0, "ada pat known lint[bot]"},
		{"the job is for the review", func(s *Source) { s.Trigger = Trigger{Review: &Review{ID: 1}} }, 0, "ada known rob"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := seen(tt.change, tt.room); got != tt.want {
				t.Errorf("asked about are %s, want %s", got, tt.want)
			}
		})
	}
}

// The comment that this job is for counts although a newer one was taken, once, and if the
// run was there when it was given.
func TestPassedOver(t *testing.T) {
	began := time.Now()
	for _, tt := range []struct {
		name string
		at   time.Time
		run  metadata.Run
		want int
	}{
		{"never decided upon", began.Add(time.Minute), metadata.Run{Cursor: "9"}, 1},
		{"decided upon", began.Add(time.Minute), metadata.Run{Cursor: "9", Decisions: []metadata.Decision{{Comment: 5}}}, 0},
		{"of an earlier run", began.Add(-time.Minute), metadata.Run{Cursor: "9"}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.run.CreatedAt = began
			c := github.Comment{ID: 5, Body: "/pause", Author: github.User{Login: "pat"}, CreatedAt: tt.at}
			mine := New(Source{Env: environ.Env{Now: time.Now}, Trigger: Trigger{Comment: &c}})
			mine.list = []github.Comment{c}
			if got := len(mine.Pending(tt.run)); got != tt.want {
				t.Errorf("%d commands wait, want %d", got, tt.want)
			}
			other := New(Source{Env: environ.Env{Now: time.Now}, Trigger: Trigger{Comment: &github.Comment{ID: 9}}})
			other.list = []github.Comment{c, {ID: 9}}
			if got := len(other.Pending(tt.run)); got != 0 {
				t.Errorf("a job for another comment takes %d", got)
			}
		})
	}
}

// A crowd that only writes does not keep those waiting whose commands the gate has signed;
// of these, too, only so many are asked about.
func TestSignedDoNotWait(t *testing.T) {
	for room, want := range map[int]int{1: 1, 0: 0} {
		in := New(Source{Env: environ.Env{Now: time.Now}})
		in.lookups, in.signed = 0, room
		eyes := github.Reactions{Eyes: 1}
		in.signs.of[2] = seen{Signs{Eyes: true, Known: true}, eyes}
		in.signs.of[3] = seen{Signs{Known: true}, eyes}
		in.list = []github.Comment{
			{ID: 1, Body: "/pause", Author: github.User{Login: "eve"}, Association: "NONE"},
			{ID: 2, Body: "/pause", Author: github.User{Login: "pat"}, Association: "NONE", Reactions: eyes},
			{ID: 3, Body: "/pause", Author: github.User{Login: "mal"}, Association: "NONE", Reactions: eyes}, // which a friend of theirs has signed
		}
		if got := in.Pending(metadata.Run{}); len(got) != want || want > 0 && got[0].Comment.Author.Login != "pat" {
			t.Errorf("with room for %d there are %+v", room, got)
		}
	}
}

// Those who are told that a newer command was taken first are they whose own job would have
// come by now: signed ones, then the newest, and no more than may be asked about.
func TestPassedOverAreTold(t *testing.T) {
	began := time.Now().Add(-time.Hour)
	run := metadata.Run{CreatedAt: began, Cursor: "90", PullCursor: "3", Decisions: []metadata.Decision{{Comment: 2}}}
	at := func(id int64, body string, change func(*github.Comment)) github.Comment {
		c := github.Comment{ID: id, Body: body, Author: github.User{Login: "pat"}, CreatedAt: began.Add(time.Minute), UpdatedAt: began.Add(time.Minute)}
		if change != nil {
			change(&c)
		}
		return c
	}
	in := New(Source{Env: environ.Env{Now: time.Now}, Trigger: Trigger{Comment: &github.Comment{ID: 9}}})
	in.list = []github.Comment{
		at(1, "/retry", func(c *github.Comment) { c.CreatedAt = began.Add(-time.Minute) }), // before the run
		at(2, "/retry", nil), // decided upon
		at(3, "/retry", func(c *github.Comment) { c.Reactions.Eyes = 1 }),
		at(4, "/help", nil), at(5, "Hello", nil), at(6, "/rollback", nil), // questions, talk, a mistake
		at(7, "/retry", func(c *github.Comment) { c.Reactions.Confused = 1 }), // refused
		at(8, "/retry", func(c *github.Comment) { c.UpdatedAt = time.Now() }), // edited
		at(9, "/retry", nil), // what this job is for
		at(10, "/retry", func(c *github.Comment) { c.CreatedAt = time.Now() }),      // whose job may still come
		at(11, "/retry", func(c *github.Comment) { c.Author.Login = "robot[bot]" }), // of a program
		at(12, "/retry", nil), // answered
		at(13, "/retry", func(c *github.Comment) { c.Reactions = github.Reactions{Eyes: 9, Confused: 9} }),
		at(99, "/retry", nil), // waits
	}
	in.answered = map[int64]bool{12: true}
	in.signs.of[3] = seen{Signs{Eyes: true, Known: true}, github.Reactions{Eyes: 1}}
	in.signs.of[7] = seen{Signs{Confused: true, Known: true}, github.Reactions{Confused: 1}}
	in.signs.of[13] = seen{Signs{Known: true}, github.Reactions{Eyes: 9, Confused: 9}} // of others
	var got []int64
	for _, c := range in.PassedOver(run) {
		got = append(got, c.Comment.ID)
	}
	if !slices.Equal(got, []int64{3, 13}) {
		t.Errorf("told are %v", got)
	}
	for id := range int64(2 * mostPassed) {
		in.list = append(in.list, at(20+id, "/retry", nil))
	}
	if all := in.PassedOver(run); len(all) != mostPassed || all[0].Comment.ID != 3 || all[1].Comment.ID != 20+2*mostPassed-1 {
		t.Errorf("of a crowd told are %+v", all)
	}
}
