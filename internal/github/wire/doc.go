// Package wire is what forges tell of: accounts, issues, comments, pull requests
// and events. It hides the forms in which they are sent, which differ from forge
// to forge.
package wire
