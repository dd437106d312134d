"""Files of the blueprint as operations read them (rule C6)."""

import os
import shutil
import tempfile

from phaseline.compat.cloudify.temp_folder import place_for_executables

from cloudify.exceptions import HttpException, NonRecoverableError
from phaseline.model.problems.name_rules import folder_name

_BUNDLED = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'bundled')
"""Scripts that the built-in types name, such as cloudify/fs/mkfs.sh; a file of the blueprint goes first."""
_MARKS = ('{{', '{%', '{#')


class Resources(object):
    """Reads from the blueprint's folder and the bundled scripts, and from nowhere else."""

    def __init__(self, ctx):
        self._ctx = ctx

    def _place(self, path):
        """(the folder in which to look, the path there): a namespace leads into the stored blueprint it was imported from."""
        code = self._ctx._call.site.deployment.code
        for namespace, folder in getattr(code, 'imported', ()):
            if path.startswith(namespace + '--'):
                return folder, path[len(namespace) + 2:]
        return code.blueprint_folder, path

    def locate(self, resource_path):
        """Where the resource lies. HttpException 404 if nowhere; paths that leave the folder are refused."""
        path = os.fspath(resource_path)
        if isinstance(path, bytes):
            path = path.decode('utf-8')
        folder, path = self._place(path)
        folder = os.path.realpath(folder)
        place = os.path.realpath(os.path.join(folder, path.lstrip('/') if not path.startswith(folder) else path))
        if place != folder and not place.startswith(folder + os.sep):
            raise NonRecoverableError("'%s' leads out of the blueprint's folder; copy the file into it" % path)
        if not os.path.exists(place) and os.path.exists(os.path.join(_BUNDLED, os.path.normpath(path))):
            return os.path.join(_BUNDLED, os.path.normpath(path))
        if not os.path.exists(place):
            raise HttpException(path, 404, "Resource not found: %s (looked for in the blueprint's folder)" % path)
        return place

    def get(self, resource_path):
        with open(self._file(resource_path), 'rb') as stream:
            return stream.read()

    def get_and_render(self, resource_path, template_variables=None):
        return self._render(self.get(resource_path), resource_path, template_variables)

    def download(self, resource_path, target_path=None):
        source = self._file(resource_path)
        target = target_path or _temporary_file(resource_path)
        _make_parent(target)
        shutil.copyfile(source, target)
        self._say(resource_path, target)
        return target

    def download_and_render(self, resource_path, target_path=None, template_variables=None):
        rendered = self.get_and_render(resource_path, template_variables)
        target = target_path or _temporary_file(resource_path)
        _make_parent(target)
        with open(target, 'wb') as stream:
            stream.write(rendered.encode('utf-8') if isinstance(rendered, str) else rendered)
        self._say(resource_path, target)
        return target

    def download_directory(self, path, target_path=None):
        source = self.locate(path)
        target = target_path or os.path.join(
            tempfile.mkdtemp(dir=_temporary_folder()), os.path.basename(os.path.normpath(path)))
        shutil.copytree(source, target, dirs_exist_ok=True)
        self._say(path, target)
        return target

    def _file(self, resource_path):
        place = self.locate(resource_path)
        if os.path.isdir(place):
            raise HttpException(resource_path, 404, '%s is a folder; use ctx.download_directory' % (resource_path,))
        return place

    def _render(self, content, resource_path, template_variables):
        variables = dict(template_variables or {})
        if 'ctx' in variables:
            raise NonRecoverableError("'ctx' is always known to the template %s; give the variable another name"
                                      % (resource_path,))
        try:
            text = content.decode('utf-8')
        except UnicodeDecodeError:
            return content
        if not any(mark in text for mark in _MARKS):
            return text
        import jinja2
        variables['ctx'] = self._ctx
        try:
            return jinja2.Template(text, keep_trailing_newline=True).render(variables)
        except jinja2.TemplateError as error:
            line = getattr(error, 'lineno', None)
            raise NonRecoverableError('template %s%s: %s' % (resource_path, ':%s' % line if line else '', error))

    def _say(self, path, target):
        self._ctx._call.log('debug', 'Downloaded %s to %s' % (path, target))


def _temporary_folder():
    return str(place_for_executables())


def _temporary_file(resource_path):
    handle, path = tempfile.mkstemp(suffix='-' + os.path.basename(os.fspath(resource_path)), dir=_temporary_folder())
    os.close(handle)
    return path


def _make_parent(path):
    parent = os.path.dirname(os.path.abspath(path))
    os.makedirs(parent, exist_ok=True)


def plugin_folder(deployment, plugin):
    """The folder in which a plugin may keep files of a deployment."""
    import hashlib  # 5 ms that most operations need not pay

    root = os.environ.get('XDG_DATA_HOME') or os.path.join(os.path.expanduser('~'), '.local', 'share')
    name, origin = ('', '') if deployment is None else (deployment.id, deployment.code.blueprint_folder)
    mark = hashlib.sha256(origin.encode('utf-8')).hexdigest()[:12]
    own = folder_name('%s-%s' % (name or 'none', mark))
    folder = os.path.join(root, 'phaseline', 'work', own, 'plugins', folder_name(plugin or 'none'))
    os.makedirs(folder, mode=0o700, exist_ok=True)
    return folder
