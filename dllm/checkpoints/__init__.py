"""Published diffusion language models, read and decoded without any code of theirs.

    from remask.dllm.checkpoints.generator import CheckpointGenerator

    generator = CheckpointGenerator.load("GSAI-ML/LLaDA-8B-Instruct")

Where each published way to decode lives. `tests/dllm` has the invariants of each; where an official sampler or library could
be run, its tokens too (marked with an asterisk).

| what | where |
|---|---|
| LLaDA low-confidence and random, blocks and steps * (arXiv 2502.09992) | `policy`: `commit="schedule"`, `"random"` |
| LLaDA classifier-free guidance * | `denoiser`: `guidance`; `guide` |
| Dream origin (arXiv 2508.15487) | `policy`: `commit="ancestral"` |
| Dream maskgit_plus, topk_margin, entropy * | `sample`: `confidence`; `policy`: `shares="time"` |
| confidence before temperature and top-p | `sample.sample` |
| Gumbel noise in float64 (arXiv 2409.02908) | `sample.sample` |
| Fast-dLLM threshold and factor (arXiv 2505.22618) | `policy`: `commit="threshold"`, `"factor"` |
| Fast-dLLM prefix and dual cache | `reuse.by_refreshed_keys` |
| prompt read once, keys a pass late (as dKV-Cache, arXiv 2505.15781) | `reuse.by_prompts_own_keys` |
| block diffusion with an exact cache (LLaDA2.x, SDAR; BD3-LM, arXiv 2503.09573) * | `reuse.by_exact_keys`; `attend` |
| LLaDA2.0 threshold in blocks *, its early stop | `policy`: `commit="threshold"`, `steps`; `end_ids` |
| LLaDA2.1 token editing * | `policy`: `edit_above`, `edit_passes`; `sample.from_logits(held=True)` |
| ReMDM cap, rescale, conf, loop (arXiv 2503.00307) | `remask` |
| re-masking of what was unsure | `policy`: `remask="unsure"` |
| entropy bound (EB-Sampler, arXiv 2505.24857) * | `policy.within_entropy` |
| dInfer hierarchy (arXiv 2510.08666) | `policy.by_hierarchy` |
| credit (CreditDecoding, arXiv 2510.06133) | `credit` |
| DiffusionGemma's uniform re-noise, its stop * | `renoise`; `gemma` |
| ends that come too early | `sample`: `forbidden`, `forbidden_slots`, `reluctant` |
| stop once the proposal is stable | `policy`: `stable_passes` |
| fixed positions | `denoise`: `fixed_BN`; `skeleton`, `infill` for JSON |
| context guidance (after ARAM, arXiv 2603.17677) | `ground` |
| one mask, many options | `choose` |
| documents read once | `documents` |
"""
