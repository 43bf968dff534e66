"""What can go wrong with a template, all of it something that whoever typed the command can mend.

CommandError
└── TemplateError
    ├── UnknownTemplate   no template has this name
    ├── TemplateBroken    a template's own files make no sense: its author's fault, or a damaged installation
    ├── NameUnusable      a project can't have this name
    └── FolderUnusable    the project can't be written there
"""

from ..agent.console import CommandError


class TemplateError(CommandError):
    pass


class UnknownTemplate(TemplateError):
    pass


class TemplateBroken(TemplateError):
    pass


class NameUnusable(TemplateError):
    pass


class FolderUnusable(TemplateError):
    pass
