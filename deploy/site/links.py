#!/usr/bin/env python3
"""Check every link and anchor of the built site: deploy/site/links.py FOLDER.

A link into the site must lead to a file that exists, and its fragment to an id in
that file. A link to a file of the repository must lead to one that is in this
checkout. Nothing that a browser loads by itself may come from another server. Other
links to other servers are not followed.
"""
import html.parser
import os
import re
import sys
import urllib.parse

CHECKOUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
FILE = re.compile(r"https://github\.com/urlfold/urlfold/blob/[^/]+/([^#]+)")
LOADED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src")}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.ids, self.links, self.twice = set(), [], []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if "id" in attrs:
            if attrs["id"] in self.ids:
                self.twice.append(attrs["id"])
            self.ids.add(attrs["id"])
        for name in ("href", "src"):
            if attrs.get(name) is not None:
                self.links.append((attrs[name], (tag, name) in LOADED))


def read(root):
    pages = {}
    for folder, _, names in os.walk(root):
        for name in names:
            if name.endswith(".html"):
                page = Page()
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as f:
                    page.feed(f.read())
                pages[os.path.normpath(path)] = page
    return pages


def problems(root, pages):
    for path, page in sorted(pages.items()):
        for twice in page.twice:
            yield f"{path}: two elements have the id {twice}"
        for link, loaded in page.links:
            url = urllib.parse.urlsplit(link)
            if url.scheme or url.netloc:
                file = FILE.match(link)
                if loaded:
                    yield f"{path}: loads {link} from another server"
                elif file and not os.path.exists(os.path.join(CHECKOUT, file[1])):
                    yield f"{path}: {link}: no such file in the repository"
                continue
            target = path
            if url.path:
                base = root if url.path.startswith("/") else os.path.dirname(path)
                target = os.path.normpath(os.path.join(base, urllib.parse.unquote(url.path).lstrip("/" if base == root else "")))
                if os.path.isdir(target):
                    target = os.path.join(target, "index.html")
                if not os.path.isfile(target):
                    yield f"{path}: {link}: no such file"
                    continue
            fragment = urllib.parse.unquote(url.fragment)
            if fragment and target in pages and fragment not in pages[target].ids:
                yield f"{path}: {link}: no such id"


def main():
    root = os.path.normpath(sys.argv[1])
    pages = read(root)
    found = list(problems(root, pages))
    print("\n".join(found))
    links = sum(len(p.links) for p in pages.values())
    print(f"{len(pages)} pages, {links} links, {len(found)} problems")
    sys.exit(1 if found or links < 1000 else 0)


main()
