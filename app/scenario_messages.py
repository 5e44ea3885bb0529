"""What the scenarios say, in English. Values in braces are the facts of each scenario, from the core."""

from types import MappingProxyType

SCENARIO_MESSAGES: MappingProxyType[str, str | dict[str, str]] = MappingProxyType(
    {
        "scenario-window-title": "Two gradients, one scale",
        "scenario-window-question": "Gradients 2⁻²⁶ and 8 are stored in FP16. Which powers of two S let both survive?",
        "scenario-window-a": "None",
        "scenario-window-b": "All from 2² up",
        "scenario-window-c": "All from 2² to 2¹²",
        "scenario-window-d": "Only 2¹²",
        "scenario-window-found": (
            "Both survive for {above} < S < {below}, both ends excluded: this is the safe window. Its powers of two are"
            " {first} to {last}. At S = {under} the small gradient rounds to 0, at S = {over} the large one overflows."
            " Of the powers of two only {full} stores both as normal values."
        ),
        "scenario-window-reflect": (
            "Why does the safe window have an end on each side, and which gradient sets which end?"
        ),
        "scenario-window-answer": (
            "{small} sets the lower end: {small} · S must exceed {lost}, since up to there FP16 rounds to 0. {large}"
            " sets the upper end: {large} · S must stay below {limit}, since from there on FP16 stores inf. This gives"
            " S > {above} and S < {below}."
        ),
        "scenario-tie-title": "Halfway between two values",
        "scenario-tie-question": (
            "Without scaling, what does FP16 store for 2⁻²⁵, for a number slightly above it, and for 3·2⁻²⁵?"
        ),
        "scenario-tie-a": "0, 0 and 2⁻²³",
        "scenario-tie-b": "0, 2⁻²⁴ and 2⁻²³",
        "scenario-tie-c": "0, 2⁻²⁴ and 2⁻²⁴",
        "scenario-tie-d": "2⁻²⁴, 2⁻²⁴ and 2⁻²³",
        "scenario-tie-found": (
            "{tie} is halfway between 0 and the smallest nonzero value, {smallest}. A tie goes to the neighbour whose"
            " last bit is 0: here to {first}. {triple} is a tie too, between {smallest} and {third}, and goes up to"
            " {third}. What lies slightly above {tie} is stored as {second}: underflow starts at {tie}, not at"
            " {smallest}."
        ),
        "scenario-tie-reflect": "Why does one tie go down and another one up?",
        "scenario-tie-answer": (
            "FP16 rounds to the nearest value, and only a tie needs a rule. The bits of 0 end in 0, those of {smallest}"
            " in 1, those of {third} in 0 again. So the tie between the first two goes down, and the tie between the"
            " last two goes up."
        ),
        "scenario-late-title": "The same factor, later",
        "scenario-late-question": (
            "A gradient of 2⁻²⁶ is stored in FP16, and then the stored value is multiplied by 2¹². Is the gradient"
            " saved?"
        ),
        "scenario-late-a": "Yes, exactly",
        "scenario-late-b": "Yes, with fewer bits",
        "scenario-late-c": "No, but a larger factor would save it",
        "scenario-late-d": "No, and no factor would save it",
        "scenario-late-found": (
            "FP16 rounds {gradient} to {stored}, and {stored} · {scale} = {late}: the gradient is lost when it is"
            " stored. If the loss is multiplied instead, before backward, FP16 stores {scaled}. Unscaling in FP32 then"
            " gives exactly {recovered}."
        ),
        "scenario-late-reflect": "Why can no later factor bring the gradient back?",
        "scenario-late-answer": (
            "Once stored, every lost gradient is 0: how large it was is no longer known. And 0 times any factor is 0. A"
            " factor of {scale} on the loss makes the gradient larger before it is stored, so it is stored as {scaled}."
        ),
        "scenario-half-title": "Unscaling in FP16",
        "scenario-half-question": (
            "A gradient of 2⁻²⁶ survives backward at S = 2¹². What does dividing it by S in FP16 give?"
        ),
        "scenario-half-a": "0",
        "scenario-half-b": "2⁻²⁴",
        "scenario-half-c": "2⁻²⁶",
        "scenario-half-found": (
            "In FP16 {stored} / {scale} is {half}: the gradient is lost after all. In FP32 the quotient is exactly"
            " {recovered}. So unscale in FP32, before clipping and before the step."
        ),
        "scenario-half-reflect": "Why does FP32 keep a quotient that FP16 loses?",
        "scenario-half-answer": (
            "The quotient is as small as the gradient was before scaling: {gradient}. FP16 rounds everything up to"
            " {lost} to 0. The smallest nonzero value of FP32 is {deepest}, so FP32 stores the quotient exactly."
        ),
        "scenario-inf-title": "A large gradient",
        "scenario-inf-question": (
            "A gradient of 8 is scaled by S = 2¹³ and stored in FP16. What is stored, and which weights are updated?"
        ),
        "scenario-inf-a": "65504, and all weights are updated",
        "scenario-inf-b": "65536, and all weights are updated",
        "scenario-inf-c": "inf, and no weight is updated",
        "scenario-inf-d": "inf, and only this weight is not updated",
        "scenario-inf-found": (
            "{large} · {scale} = {product}, and FP16 stores inf; at S = {last} it still stores {kept}. Overflow starts"
            " at {limit}: {near} would be stored as {largest}. One inf is enough: the optimizer skips the whole step."
        ),
        "scenario-inf-reflect": "Why is the whole step skipped, and not only the update of one weight?",
        "scenario-inf-answer": (
            "An inf spreads: what backward computes from it can become inf or NaN too, and so does the norm that"
            " clipping needs. An update of some weights only is not the step that the gradients ask for. A skipped step"
            " costs one batch, and the scaler lowers S for the next."
        ),
        "scenario-none-title": "Save both at once",
        "scenario-none-question": "Gradients 2⁻³⁴ and 2¹⁰ are stored in FP16. Which powers of two S save both?",
        "scenario-none-a": "None",
        "scenario-none-b": "Exactly one",
        "scenario-none-c": "All that are large enough",
        "scenario-none-d": "All that are small enough",
        "scenario-none-found": (
            "{small} needs S > {above}, {large} needs S < {below}: no S does both. Of the powers of two the first needs"
            " at least {first}, the second at most {last}. Two things help: a format with a wider range, or a scale of"
            " its own for each tensor."
        ),
        "scenario-none-reflect": "Why can no scale save both, whatever its value?",
        "scenario-none-answer": (
            "S multiplies both gradients alike, so their ratio stays {ratio}. Between rounding to 0 and overflow FP16"
            " has room only for ratios below {span}. The ratio is larger, so at every S at least one of them is lost or"
            " overflows."
        ),
        "scenario-below1-title": "How small may S be?",
        "scenario-below1-question": "Gradients 2⁻²⁰ and 2¹⁸ are stored in FP16. Which powers of two S save both?",
        "scenario-below1-a": "None",
        "scenario-below1-b": "Only S = 1",
        "scenario-below1-c": "Some above 1",
        "scenario-below1-d": "Some below 1",
        "scenario-below1-found": (
            "Of the powers of two only {first} and {last} save both. The safe window goes from {above} to {below}, both"
            " ends excluded. A loss scale can be below 1: then it makes large gradients small enough."
        ),
        "scenario-below1-reflect": "Why do these two gradients need a scale below 1?",
        "scenario-below1-answer": (
            "Without scaling {large} overflows, since FP16 stores inf from {limit} on. {small} may become smaller: at S"
            " = {first} it is stored as {lowest}, and FP16 rounds to 0 only up to {lost}. So a scale that makes both"
            " smaller saves both."
        ),
        "scenario-bf16-title": "The same two in BF16",
        "scenario-bf16-question": (
            "2⁻²⁶ and 8 are stored in BF16 instead of FP16. Which scale do they need, and how precise is BF16?"
        ),
        "scenario-bf16-a": "No scale; more precise than FP16",
        "scenario-bf16-b": "No scale; less precise than FP16",
        "scenario-bf16-c": "No scale; as precise as FP16",
        "scenario-bf16-d": "The same scale; as precise as FP16",
        "scenario-bf16-found": (
            "BF16 stores {small} and {large} exactly, without any scale. The price is precision. BF16 has {bits}"
            " significant bits, FP16 has {fp16_bits}: {fine} is stored as {coarse} in BF16, and exactly in FP16."
        ),
        "scenario-bf16-reflect": "Why can BF16 have a wider range than FP16, and what does it have less of?",
        "scenario-bf16-answer": (
            "Both formats have {width} bits. BF16 uses {exponent} of them for the exponent, FP16 only {fp16_exponent}:"
            " the largest value is {largest} in BF16 and {fp16_largest} in FP16. So BF16 has fewer significant bits,"
            " {bits} instead of {fp16_bits}, and its values lie further apart."
        ),
        "scenario-fp8-title": "From FP16 to FP8",
        "scenario-fp8-question": (
            "2⁻²⁶ and 8 are stored in E5M2 or E4M3 instead of FP16. Which powers of two S let both survive?"
        ),
        "scenario-fp8-a": "Larger ones than in FP16, in both formats",
        "scenario-fp8-b": "The same ones as in FP16, in both formats",
        "scenario-fp8-c": "Fewer than in FP16 in E5M2, none in E4M3",
        "scenario-fp8-d": "None in either format",
        "scenario-fp8-found": (
            "In E5M2 both survive only from S = {first} to {last}; in FP16 from {fp16_first} to {fp16_last}. In E4M3 no"
            " S is right: {small} needs S > {e4m3_above}, {large} needs S ≤ {e4m3_below}. FP8 needs a more careful"
            " scale, not a larger one, and often one for each tensor."
        ),
        "scenario-fp8-reflect": "E5M2 has as many exponent bits as FP16. Why is its safe window narrower all the same?",
        "scenario-fp8-answer": (
            "With fewer significant bits its subnormals end earlier: its smallest nonzero value is {smallest}, that of"
            " FP16 is {fp16_smallest}. This raises the lower end of the safe window from {fp16_above} to {above}. The"
            " upper end moves only from {fp16_below} to {below}."
        ),
        "scenario-clip-title": "Clip first, unscale later?",
        "scenario-clip-question": (
            "The true norm is 0.5, the limit is 1, and S = 2¹⁰. How large is the step if clipping comes before"
            " unscaling?"
        ),
        "scenario-clip-a": "As large as it should be",
        "scenario-clip-b": "There is none: it is skipped",
        "scenario-clip-c": "1024 times too small",
        "scenario-clip-d": "512 times too small",
        "scenario-clip-found": (
            "Before unscaling the norm is {scaled}: it is cut to {limit}, and then divided by {scale}. The step is"
            " {factor} times too small, and nothing says so. After unscaling the norm is {norm}, below the limit: the"
            " step is the true one."
        ),
        "scenario-clip-reflect": "Why is the limit right only for the unscaled gradient?",
        "scenario-clip-answer": (
            "The limit is chosen for the true norm. Before unscaling the norm is S times as large, so a limit of"
            " {limit} has the effect of a limit of {effective}. And this effect changes whenever the scaler changes S."
        ),
        "scenario-accum-title": "Two micro-batches, one step",
        "scenario-accum-question": (
            "Two micro-batches have gradients 1 and 1, scaled by 2¹² and then by 2¹¹. What is their sum after unscaling"
            " by 2¹¹?"
        ),
        "scenario-accum-a": "3",
        "scenario-accum-b": "2",
        "scenario-accum-c": "1.5",
        "scenario-accum-found": (
            "The scaled gradients are {first_part} and {second_part}, and their sum is {sum}. Divided by {second} this"
            " is {wrong}, not {right}. Keep S fixed until all micro-batches of a step are added and unscaled."
        ),
        "scenario-accum-reflect": "Why must S stay the same for all micro-batches of one step?",
        "scenario-accum-answer": (
            "Unscaling divides the whole sum by one S. This S cancels only in those parts that were multiplied by it."
            " With S = {first} for both parts the sum is {fixed}, and {fixed} / {first} = {right}."
        ),
        "scenario-dyn-title": "A scaler, step by step",
        "scenario-dyn-question": (
            "S starts at 2¹⁶, is halved on overflow, and doubled after 20 good steps. The largest gradient is 8: which"
            " steps are skipped in FP16?"
        ),
        "scenario-dyn-a": "None",
        "scenario-dyn-b": "4 at first, later more",
        "scenario-dyn-c": "4 at first, later none",
        "scenario-dyn-d": "1 at first, later none",
        "scenario-dyn-found": (
            "With a largest gradient of {largest} the first {skipped} steps are skipped: S falls from {start} to"
            " {settled}. After {interval} good steps S grows to {over}, overflows, and falls back: one step in {period}"
            " is skipped. S is a saw-tooth at the upper end of the safe window, which moves when the largest gradient"
            " changes. The scaler sees overflow only, and never that a gradient rounds to 0."
        ),
        "scenario-dyn-reflect": "Why does the scaler stay near the upper end of the safe window, not in the middle?",
        "scenario-dyn-answer": (
            "The scaler sees only whether some gradient is inf or NaN. While none is, S grows, so only overflow stops"
            " it. Near the upper end small gradients have the most room. The price here is one skipped step in"
            " {period}."
        ),
        "scenario-coarse-title": "Nonzero, and correct?",
        "scenario-coarse-question": (
            "Without scaling, FP16 does not store 1.75·2⁻²⁴ as 0. How exact is the stored value?"
        ),
        "scenario-coarse-a": "It is exact",
        "scenario-coarse-b": "It is exact to within 0.1%",
        "scenario-coarse-c": "It is about 14% too large",
        "scenario-coarse-d": "It is about 43% too small",
        "scenario-coarse-found": (
            "At S = 1 FP16 stores {stored}: the error is {error}. At S = {next_scale} the scaled gradient is a tie, and"
            " the error is {next_error}. From S = {exact} to {last} there is no error. Nonzero does not mean correct."
        ),
        "scenario-coarse-reflect": "Why does a larger S make the stored value exact here?",
        "scenario-coarse-answer": (
            "Near 0 the values of FP16 are {distance} apart, and {gradient} lies between two of them. Times {exact} it"
            " is exactly {times} · {distance}, which is a value of FP16. Once the stored value is normal, FP16 keeps"
            " all its {bits} significant bits."
        ),
        "scenario-swamp-title": "A small update",
        "scenario-swamp-question": (
            "A weight of 1, kept in FP16, should fall by 2⁻¹². Which powers of two S make it fall?"
        ),
        "scenario-swamp-a": "None",
        "scenario-swamp-b": "All that let the gradient survive",
        "scenario-swamp-c": "All from 2¹² up",
        "scenario-swamp-found": (
            "At S = {scale} the optimizer gets the exact update, {update}. But {weight} − {update} rounds back to"
            " {after} in FP16, at every power of two. An FP32 master weight falls by {kept}. Scaling protects"
            " gradients, and master weights protect updates."
        ),
        "scenario-swamp-reflect": "Why can no power of two make the FP16 weight fall?",
        "scenario-swamp-answer": (
            "S is divided out before the step: at every power of two in the safe window the update is {update}. The"
            " next FP16 value below {weight} is {gap} away. {update} is half of that, a tie, and the tie goes back to"
            " {weight}. The values of FP32 are close enough for an FP32 weight to fall by {update}."
        ),
        "scenario-outlier-title": "One outlier",
        "scenario-outlier-question": (
            "Gradients from 2⁻³⁰ to 2⁻²⁰ are joined by one of 2¹⁰. What does it do to their safe window in FP16?"
        ),
        "scenario-outlier-a": "It hardly changes the window",
        "scenario-outlier-b": "It leaves no power of two in the window",
        "scenario-outlier-c": "It moves the whole window down",
        "scenario-outlier-found": (
            "Without it the powers of two from {rest_first} to {rest_last} are safe. With it the safe window is {above}"
            " < S < {below}, and no power of two lies inside. Doubling and halving a power of two never leads there; a"
            " typed S such as {inside} is safe."
        ),
        "scenario-outlier-reflect": "Why does one gradient decide, however many others there are?",
        "scenario-outlier-answer": (
            "The smallest gradient sets the lower end of the safe window, and the largest sets the upper end. The"
            " outlier lowers the upper end from {rest_below} to {below}, while the lower end stays at {above}. It"
            " cannot be ignored either: one overflow costs the whole step."
        ),
        "scenario-same-title": "Larger scale, larger step?",
        "scenario-same-question": (
            "Gradients 2⁻¹² and 2⁻³ survive in FP16 at S = 1 and at S = 2¹². How do the two SGD steps differ?"
        ),
        "scenario-same-a": "The second is 4096 times as long",
        "scenario-same-b": "The second is slightly more exact",
        "scenario-same-c": "They have different directions",
        "scenario-same-d": "They do not differ",
        "scenario-same-found": (
            "The update is the same, bit for bit, for every power of two from {first} to {last}: {small_update} and"
            " {large_update}. S is divided out before the step. It is neither a learning rate nor a new objective."
        ),
        "scenario-same-reflect": "Why does the update not depend on S?",
        "scenario-same-answer": (
            "Backward makes every gradient S times as large, and unscaling divides by the same S. A power of two"
            " changes only the exponent, so at these scales nothing is rounded. The optimizer gets {small} and {large},"
            " and multiplies them by the learning rate {rate}."
        ),
        "scenario-mean-title": "Which average?",
        "scenario-mean-question": (
            "Micro-batches of 1 and 3 tokens have gradients 4 and 0 per token, whose mean is 2. Which S gives the mean"
            " over all tokens instead?"
        ),
        "scenario-mean-a": "S = 0.5",
        "scenario-mean-b": "S = 4",
        "scenario-mean-c": "No S",
        "scenario-mean-d": "Every S in the safe window",
        "scenario-mean-found": (
            "The mean of means is {means}, the token mean is {token_mean}. At every power of two in the safe window"
            " both stay what they are. Averaging is a different job: each micro-batch must count by its number of"
            " tokens."
        ),
        "scenario-mean-reflect": "Why can no S turn one average into the other?",
        "scenario-mean-answer": (
            "S multiplies both micro-batches alike and is divided out again, so their shares stay the same. The mean of"
            " means has the shares {equal} and {equal}, the token mean {first_share} and {second_share}. Only the loss"
            " itself can change these shares."
        ),
        "scenario-nan-title": "A NaN in the data",
        "scenario-nan-question": (
            "From some step on, every batch contains a NaN, and the scaler halves S at each inf or NaN. How does this"
            " end?"
        ),
        "scenario-nan-a": "No S helps, and no more steps are taken",
        "scenario-nan-b": "A smaller S helps, and training goes on",
        "scenario-nan-c": "S stops at 1, and training goes on",
        "scenario-nan-d": "One step is skipped, and training goes on",
        "scenario-nan-found": (
            "NaN · S is NaN at every S: each further step is skipped, and S is halved again. Kept in FP32, S falls from"
            " {start} to {smallest} in {steps} steps, and one step later to {end}. No S helps: look for the cause of"
            " the NaN."
        ),
        "scenario-nan-reflect": "Why does a smaller S help against overflow, but not against a NaN?",
        "scenario-nan-answer": (
            "Overflow depends on S: the gradient is finite, and only the scaled gradient is too large for the format. A"
            " smaller S makes it fit again. A NaN is there before S is applied, and NaN times any number is NaN."
        ),
        "scenario-autocast-title": "Autocast or scaling?",
        "scenario-autocast-question": (
            "Some gradients of a training run are too small for FP16. What saves them, autocast or loss scaling?"
        ),
        "scenario-autocast-a": "Autocast, with or without scaling",
        "scenario-autocast-b": "Scaling, where autocast is on",
        "scenario-autocast-c": "Either of the two alone",
        "scenario-autocast-d": "Neither of the two",
        "scenario-autocast-found": (
            "Autocast chooses the formats of operations; scaling protects the range of gradients. Autocast without"
            " scaling loses small gradients, and with scaling it keeps nearly all of them. Scaling without autocast"
            " changes nothing, since FP32 has the range they need."
        ),
        "scenario-autocast-reflect": "Why do gradients need a scale under autocast, but not in FP32?",
        "scenario-autocast-answer": (
            "The loss of this run is a mean over {places} places, so no gradient of its outputs exceeds {most}. FP16"
            " rounds everything up to {lost} to 0, FP32 only up to {fp32_lost}. At S = {scale} these gradients reach up"
            " to {scaled}, and far more of them survive in FP16."
        ),
        "misconception-too-far-apart": (
            "Gradients can be far apart and still fit: what counts is whether one scale brings both into the range of"
            " the format."
        ),
        "misconception-bigger-is-safer": (
            "A larger scale is not always safer: it brings large gradients to overflow, and it cannot bring back what"
            " is already 0."
        ),
        "misconception-subnormal-is-lost": (
            "A subnormal is not lost: it is stored with fewer significant bits, but it is not 0."
        ),
        "misconception-underflow-at-min": (
            "Underflow does not start at the smallest nonzero value but at half of it: what lies between is rounded up."
        ),
        "misconception-rounding-is-down": (
            "Rounding does not always go down: it goes to the nearest value, and a tie to the neighbour whose last bit"
            " is 0."
        ),
        "misconception-half-goes-up": (
            "A tie does not always go up: it goes to the neighbour whose last bit is 0, and that can be the lower one."
        ),
        "misconception-late-still-helps": (
            "A factor does not help once the gradient is stored: by then it is 0, and 0 times any factor is 0."
        ),
        "misconception-underflow-loses-bits": (
            "Underflow does not cost only some bits: the stored value is 0, and nothing is left of the gradient."
        ),
        "misconception-smallest-is-a-floor": (
            "Numbers do not stop at the smallest nonzero value: what is at most half of it is rounded to 0."
        ),
        "misconception-survived-is-safe": (
            "A gradient that survived backward is not safe yet: unscaling in a narrow format can make it 0 after all."
        ),
        "misconception-largest-is-a-ceiling": (
            "Numbers do not stop at the largest value: what is too large to be rounded to it, FP16 stores as inf."
        ),
        "misconception-powers-always-fit": (
            "A power of two does not always fit: it needs few significant bits, but also an exponent that the format"
            " has."
        ),
        "misconception-overflow-loses-one": (
            "An overflow does not cost only one gradient: the optimizer skips the whole step."
        ),
        "misconception-scale-always-exists": (
            "There is not always a scale that works: gradients that are too far apart have no safe window."
        ),
        "misconception-only-overflow-counts": (
            "Overflow is not all that counts: a gradient that rounds to 0 is lost too, and nothing says so."
        ),
        "misconception-must-exceed-one": (
            "A loss scale need not exceed 1: where gradients are too large, a smaller scale makes them fit."
        ),
        "misconception-unscaled-is-safe": (
            "S = 1 is not safe in itself: a gradient that overflows without scaling overflows there too."
        ),
        "misconception-range-is-precision": (
            "Range is not precision: more exponent bits widen the range, but only significant bits make values exact."
        ),
        "misconception-range-is-free": (
            "A wider range is not free: in a format of the same size, bits for the exponent are taken from precision."
        ),
        "misconception-same-size-same-range": (
            "Formats of the same size need not have the same range: they can use their bits differently."
        ),
        "misconception-fewer-bits-only-blur": (
            "Fewer bits do not cost only precision: subnormals end earlier too, and then small gradients need a larger"
            " scale."
        ),
        "misconception-few-bits-never-work": (
            "A format with few bits is not useless: its safe window is narrower, but there can still be one."
        ),
        "misconception-order-does-not-matter": (
            "The order does matter: the limit is chosen for true gradients, and here it meets gradients S times as"
            " large."
        ),
        "misconception-mistakes-show": (
            "A wrong order does not always show: all numbers here stay finite, so no step is skipped."
        ),
        "misconception-clipping-undoes-scale": (
            "Clipping does not undo the scale: it cuts the norm to the limit, which need not be the true norm."
        ),
        "misconception-moving-scale-cancels": (
            "S does not cancel by itself: every part of the sum must be multiplied by the S that divides the sum."
        ),
        "misconception-first-scale-counts": (
            "Unscaling does not remember the first scale: it divides the sum by the scale that holds at the end."
        ),
        "misconception-scaler-starts-right": (
            "A scaler does not know the right scale at the start: it starts high, and skips steps until nothing"
            " overflows."
        ),
        "misconception-scaler-finds-best": (
            "A scaler does not find a best scale and stay there: it grows again and again, until a step is skipped."
        ),
        "misconception-one-skip-is-enough": (
            "One skipped step is not always enough: S is only halved, and the cause can still be there."
        ),
        "misconception-nonzero-is-right": (
            "Nonzero does not mean correct: a subnormal has few significant bits, and rounding can change it a lot."
        ),
        "misconception-precision-is-constant": (
            "FP16 does not have the same precision everywhere: below the normal values, significant bits become fewer."
        ),
        "misconception-scale-fixes-weights": (
            "A loss scale protects gradients, not weights: it is divided out before the weight is rounded."
        ),
        "misconception-scale-is-learning-rate": (
            "A loss scale is not a learning rate: it is divided out before the step, which does not become larger."
        ),
        "misconception-most-decide": (
            "The safe window does not depend on most gradients: the smallest and the largest alone set its ends."
        ),
        "misconception-ends-move-together": (
            "The ends of the safe window do not move together: a new largest gradient lowers the upper end alone."
        ),
        "misconception-larger-is-more-precise": (
            "A larger scale is not more exact where values are normal already: a power of two changes only the"
            " exponent."
        ),
        "misconception-scale-changes-objective": (
            "A loss scale does not change what is learned: every gradient is multiplied and divided by the same number."
        ),
        "misconception-average-is-scaling": (
            "Averaging is not scaling: S is divided out again, so it cannot correct an average."
        ),
        "misconception-scale-counts-tokens": (
            "S does not count tokens: it multiplies all micro-batches alike, and is divided out again."
        ),
        "misconception-surviving-is-enough": (
            "Survival is not enough: gradients can all survive and still be averaged in a wrong way."
        ),
        "misconception-nan-can-be-scaled": "No scale makes a NaN a number: NaN times any scale is NaN.",
        "misconception-scale-stops-at-one": (
            "S = 1 is not where a scaler must stop, and even if it does, the NaN is still there."
        ),
        "misconception-autocast-is-scaling": (
            "Autocast does not scale the loss: it chooses formats, and in FP16 small gradients need a scale."
        ),
        "misconception-either-is-enough": (
            "Autocast and scaling do not replace each other: one chooses formats, the other protects the range of"
            " gradients."
        ),
        "misconception-only-fp32-works": (
            "FP32 is not the only way: with a scale in the safe window, gradients survive in FP16 too."
        ),
    }
)
