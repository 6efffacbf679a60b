package legacy

import (
	"github.com/reprise-ci/reprise/metadata"
)

// importResult is what was taken over, for programs.
type importResult struct {
	DryRun bool            `json:"dry_run"`
	Issue  string          `json:"issue"`
	From   string          `json:"from"` // the older record
	Branch string          `json:"branch"`
	Base   string          `json:"base_commit"`
	Head   string          `json:"head_sha,omitempty"` // empty in a dry run
	Pushed bool            `json:"pushed"`
	Status metadata.Status `json:"status"`
	Phases []takenPhase    `json:"phases"`
	Notes  []Note          `json:"dropped"`
}
