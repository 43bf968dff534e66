"""Where a checkpoint lies: a folder of yours, or one that the hub keeps a copy of on this machine."""

import re
from pathlib import Path

from huggingface_hub import snapshot_download
from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, LocalEntryNotFoundError, RepositoryNotFoundError

from ..errors import BackendUnavailable

_ID = re.compile(r"[\w.-]+/[\w.-]+")
_WANTED = ("*.json", "*.safetensors", "*.jinja", "tokenizer*", "*.txt", "*.model")


def checkpoint_folder(path_or_id: str, *, endpoint: str | None = None, download: bool = True) -> Path:
    """A path wins over an id of the same name. An id is downloaded once, without any code in it; with `download` false it
    has to be here already.

    Raises BackendUnavailable where there is neither, where nothing can be reached, and where access was not granted.
    """
    path = Path(path_or_id).expanduser()
    if path.is_dir():
        return path
    if path.is_file():
        raise BackendUnavailable(f"{path_or_id!r} is a file. Give the folder that holds config.json and the weights")
    if not _ID.fullmatch(path_or_id):
        raise BackendUnavailable(
            f"{path_or_id!r} is no folder. Give one, or a hub id such as 'GSAI-ML/LLaDA-8B-Instruct'"
        )
    try:
        wanted = list(_WANTED)
        return Path(
            snapshot_download(path_or_id, allow_patterns=wanted, endpoint=endpoint, local_files_only=not download)
        )
    except GatedRepoError as error:
        raise BackendUnavailable(
            f"{path_or_id!r} asks you to accept its terms. Do so on its page, then log in with: hf auth login"
        ) from error
    except RepositoryNotFoundError as error:
        raise BackendUnavailable(
            f"the hub has no {path_or_id!r}, nor is it a folder here. Check its spelling"
        ) from error
    except (LocalEntryNotFoundError, HfHubHTTPError, OSError) as error:
        if not download:
            raise BackendUnavailable(
                f"{path_or_id!r} is not on this machine yet. The first question downloads it, or: hf download {path_or_id}"
            ) from error
        raise BackendUnavailable(
            f"{path_or_id!r} is not on this machine and could not be downloaded ({type(error).__name__}). Connect to the "
            f"network, or download it elsewhere and give its folder"
        ) from error
