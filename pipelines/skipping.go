package pipelines

// SkipIf is what is asked before a phase begins; if it holds, the phase is left out.
type SkipIf struct {
	When string   `json:"when"`           // CUE text; holds when it subsumes the facts
	Tree []string `json:"tree,omitempty"` // path patterns of which it asks whether the branch has such files
}
