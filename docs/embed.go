// Package docs holds the documents of urlfold, so that the program can show
// them: see package internal/app/manual.
package docs

import "embed"

// Pages holds the Markdown pages, by their paths below this folder.
//
//go:embed *.md explanation/*.md guide/*.md how-to/*.md reference/*.md
var Pages embed.FS
