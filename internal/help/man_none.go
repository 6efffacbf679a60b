//go:build !man

package help

import "github.com/spf13/cobra"

// Manual adds nothing: manual pages are written by a program that is built for that.
func Manual(*cobra.Command) {}
