package config

import (
	"errors"

	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/internal/ground/errlist"
)

// A Param declares how a parameter is serialized, in the terms of an OpenAPI
// 3.1.1 parameter object. Not covered by the stability page.
type Param struct {
	// The name of the parameter.
	Name string `yaml:"name,required" min:"1"`
	// The location of the parameter. Default: query.
	In string `yaml:"in" enum:"query,path"`
	// The serialization style. Default: form in a query, simple in a path.
	Style string `yaml:"style" enum:"form,spaceDelimited,pipeDelimited,deepObject,simple,label,matrix"`
	// Whether each item has its own name=value pair. Default: true for form and
	// deepObject, false for all other styles.
	Explode *bool `yaml:"explode"`
	// The type of the value. Default: object for deepObject, array for all other
	// styles.
	Type string `yaml:"type" enum:"string,array,object"`
	// The property names of an exploded object of style form or matrix. Default:
	// all names that no other parameter declares.
	Properties []string `yaml:"properties"`
	// The template of the paths that contain a path parameter, such as
	// /users/{id}. Required for the styles simple and label.
	Path string `yaml:"path"`
}

// declaration returns p as a declaration of package params. The decoder has
// checked the enumerated values.
func (p *Param) declaration() params.Declaration {
	d := params.Declaration{Name: p.Name, Properties: p.Properties, Path: p.Path}
	d.In, _ = params.ParseLocation(p.In)
	d.Style, _ = params.ParseStyle(p.Style)
	d.Type, _ = params.ParseValueType(p.Type)
	switch {
	case p.Explode == nil:
	case *p.Explode:
		d.Explode = params.ExplodeYes
	default:
		d.Explode = params.ExplodeNo
	}
	return d
}

// resolveParams compiles the declarations at a path. It returns nil if there
// are none or if they contain errors.
func (d *decoder) resolveParams(list []Param, at string) *params.Styles {
	if len(list) == 0 || d.broken[at] {
		return nil
	}
	decls := make([]params.Declaration, len(list))
	for i := range list {
		decls[i] = list[i].declaration()
	}
	styles, err := params.CompileStyles(decls)
	for _, err := range errlist.Flatten(err) {
		var e *params.StyleError
		if !errors.As(err, &e) {
			d.failPath(at, err)
			continue
		}
		path := element(at, e.Index)
		if e.Field != "" {
			path = in(path, e.Field)
		}
		d.failPath(path, errors.New(e.Reason))
	}
	return styles
}
