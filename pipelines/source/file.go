package source

// file is a pipeline as it was found.
type file = SourceFile
