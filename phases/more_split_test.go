package phases

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/pipelines"
)

// Where a phase may be split, each mistake in the tasks of a report is told.
func TestMistakes(t *testing.T) {
	p := &pipelines.Phase{Name: "plan", ReportSchema: json.RawMessage(`{"properties":{"tasks":{}}}`)}
	splits := &pipelines.Pipeline{Rules: []pipelines.Rule{{After: "plan", Then: pipelines.Then{Split: "code"}}}}
	many := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`{"id":"t%d","title":"T","goal":"G"}`, i))
		}
		return strings.Join(all, ",")
	}
	for tasks, want := range map[string]string{
		many(0): "", many(1): "", many(20): "", many(21): "tasks_too_many",
		`{"id":"a","title":"T","goal":"G","needs":["b"]},{"id":"b","title":"T","goal":"G","needs":["a"]}`:       "tasks_in_circle",
		`{"id":"a","title":"T","goal":"G","needs":["a"]}`:                                                       "tasks_in_circle",
		`{"id":"a","title":"T","goal":"G","needs":["x"]}`:                                                       "task_need_unknown",
		`{"id":"a","title":"T","goal":"G"},{"id":"a","title":"T","goal":"G"}`:                                   "task_id_twice",
		`{"id":"../a","title":"T","goal":"G"}`:                                                                  "task_id_unfit",
		`{"id":"a.","title":"T","goal":"G"}`:                                                                    "task_id_unfit",
		`{"id":"a..b","title":"T","goal":"G"}`:                                                                  "task_id_unfit",
		`{"id":"A","title":"T","goal":"G"}`:                                                                     "task_id_unfit",
		`{"id":"","title":"T","goal":"G"}`:                                                                      "task_id_unfit",
		`{"id":"` + strings.Repeat("a", 60) + `","title":"T","goal":"G"}`:                                       "task_id_unfit",
		`{"id":"a","title":" ","goal":"G"}`:                                                                     "task_empty",
		`{"id":"a","title":"T","goal":""}`:                                                                      "task_empty",
		`{"id":"a","title":"T","goal":"G","files":["../../etc/passwd","/etc/passwd",".git/config"]}`:            "task_file_outside task_file_outside task_file_outside",
		`{"id":"a","title":"T","goal":"G","files":["x.go"]},{"id":"b","title":"T","goal":"G","files":["x.go"]}`: "",
		`{"id":"a","title":"](http://x) @ada /rollback plan $(rm -rf ~)","goal":"G"}`:                           "",
		`{"id":"../a","title":"","goal":"","needs":["x"]},{"id":"b","title":"T","goal":""}`:                     "task_id_unfit task_empty task_need_unknown",
	} {
		report := json.RawMessage(`{"tasks":[` + tasks + `]}`)
		var got []string
		for _, why := range SplitMistakes(splits, p, report) {
			got = append(got, why.Code())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%.200s\ngot %q, want %q", tasks, got, want)
		}
		if wrong := SplitMistakes(&pipelines.Pipeline{}, p, report); len(wrong) > 0 && want != "tasks_in_circle" {
			t.Errorf("%.200s\nnobody splits anything, and it is refused: %v", tasks, wrong)
		}
	}
}
