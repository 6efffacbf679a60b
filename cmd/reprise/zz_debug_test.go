package main
import ("testing";"fmt";"os")
func TestZZ(t *testing.T) {
	h := newHub(t)
	if p := os.Getenv("ZZP"); p != "" { h.inputs["pipeline"] = p }
	j := h.comment("ada", "/run").end(exitDone)
	fmt.Println(j.said.String())
	fmt.Println("=== outputs", j.outputs)
	fmt.Println("=== summary", j.summary)
	fmt.Println("=== live", h.ours("progress")[0].Body)
	for _, p := range h.forge.Pulls(hubRepo) { fmt.Println("=== pull", p.Title, "\n", p.Body) }
	for _, r := range h.forge.Requests() { fmt.Println(r.Method, r.Path) }
	fmt.Printf("%+v\n", h.forge.Counts())
}
