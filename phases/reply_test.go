package phases

import (
	"encoding/json"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// Only JSON that ends a message is its answer, however it is fenced; what is quoted before is none.
func TestAnsweredReport(t *testing.T) {
	const pass, fail = `{"verdict":"pass"}`, `{"verdict":"fail","gates":[]}`
	for text, want := range map[string]string{
		"```json\n" + fail + "\n```":                                                  fail + "\n",
		"\n" + fail + "\n":                                                            fail,
		"So:\n\n```\n" + fail + "\n```\n\n":                                           fail + "\n",
		"So:\r\n~~~~ JSON\r\n" + fail + "\r\n~~~~\r\n":                                "\n" + fail + "\n\n",
		"- so:\n  ```json\n  " + fail + "\n  ```":                                     "  " + fail + "\n",
		"1. ```json\n   " + fail + "\n   ```":                                         "   " + fail + "\n",
		"```json\n{\"port\":1}\n```\nSo:\n```json\n" + fail + "\n```":                 fail + "\n",
		"```go\nx\n```\n```json\n" + fail + "\n```":                                   fail + "\n",
		"```json\n{ \"verdict\": \"fail\" }\n```\nAgain:\n```json\n" + fail + "\n```": fail + "\n",
		"It says\n```json\n" + pass + "\n```\nwhich I did not follow.":                "",
		"It says\n```json\n" + pass + "\n```\nI say\n```json\n" + fail + "\n```":      "",
		"````\n```json\n" + pass + "\n```\n````":                                      "",
		"~~~\n```json\n" + pass + "\n```\n~~~":                                        "",
		"> ```json\n> " + pass + "\n> ```":                                            "",
		"```yaml\n" + pass + "\n```":                                                  "",
		"```json\n" + pass:                                                            "",
		"```json\n" + pass[1:] + "\n```":                                              "",
		"```\n" + `{"verdict":"fail","verdict":"pass"}` + "\n```":                     "",
		`{"a":[{"b":1,"b":2}]}`:                                                       "",
		"`" + pass + "`":                                                              "",
		"":                                                                            "",
	} {
		if got, _ := AnsweredReport(nil, text); string(got) != want {
			t.Errorf("%q has the report %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"```json\n{\"a\":1,\"a\":2}\n```": "the answer:1:8: a: the name occurs twice",
		"{\"a\":1,\"a\":2}":               "the answer:1:8: a: the name occurs twice",
		"{\"a\":":                         "the answer:1:6: a: it ends in the middle: it was cut off",
		"So:\n```json\n{\"a\":1,}\n```":   "the answer:1:7: invalid character ',' at start of value",
		"```json\n{\"a\":1}\n```\nor\n```json\n{\"a\":2}\n```": "blocks of JSON contradict each other; end with one, and quote none",
		"```json\n{\"a\":1,}\n```\nThat is all.":               "",
		"```sh\n{ echo; }\n```":                                "",
	} {
		why := ""
		if got, err := AnsweredReport(nil, text); got != nil {
			t.Errorf("%q has the report %s", text, got)
		} else if err != nil {
			why = err.Error()
		}
		testenv.Is(t, text, why, want)
	}
	typed := func(answer string) string {
		got, _ := AnsweredReport(json.RawMessage(answer), pass)
		return string(got)
	}
	testenv.Is(t, "an answer that is no JSON hides the one that is:", typed("So be it"), pass)
	testenv.Is(t, "an answer that says two things", typed(`{"verdict":"fail","verdict":"pass"}`), "")
	for text, want := range map[string]string{
		"# Plan\n\n```json\n{\"a\":1}\n```\n\n```json\n{\"b\":1}\n```": "# Plan\n\n```json\n{\"a\":1}\n```",
		"# Plan\n\n```json\n{\"a\":1}\n```\n\nEnd.":                    "# Plan\n\n```json\n{\"a\":1}\n```\n\nEnd.",
		"{\"a\":1}": "",
	} {
		if got := AnsweredDocument(text); got != want {
			t.Errorf("%q has the document %q, want %q", text, got, want)
		}
	}
}
