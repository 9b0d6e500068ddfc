"""Writes a random model for llama.cpp: noise_model.py FILE

Its weights are random, its vocabulary is bytes and letters, and it says some dozens of letters before it ends. What
is real about it is all the rest: the server's tokens, its context, its cache of prompts.
"""

import sys

import gguf
import numpy

WIDTH, HEADS, LAYERS, INNER = 64, 4, 2, 128
LETTERS = list("\u2581abcdefghijklmnopqrstuvwxyz")
TOKENS = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)] + LETTERS
# Token types of gguf: 1 normal, 2 unknown, 3 control, 6 byte.
KINDS = [2, 3, 3] + [6] * 256 + [1] * len(LETTERS)
END = 2

random = numpy.random.default_rng(0)


def noise(rows, columns, size=0.1):
    return random.standard_normal((rows, columns)).astype(numpy.float32) * numpy.float32(size)


def main():
    writer = gguf.GGUFWriter(sys.argv[1], "llama")
    writer.add_name("noise")
    writer.add_context_length(32768)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(TOKENS))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(TOKENS)
    writer.add_token_scores([0.0] * len(TOKENS))
    writer.add_token_types(KINDS)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(END)
    writer.add_unk_token_id(0)

    # The first dimension is the same for every token, so that the last layer can restrict the output to letters and
    # the end token, with similar probabilities.
    tokens = noise(len(TOKENS), WIDTH)
    tokens[:, 0] = 4
    said = noise(len(TOKENS), WIDTH, 0.02)
    said[:, 0] = -4
    said[END, 0] = said[len(TOKENS) - len(LETTERS):, 0] = 1
    ones = numpy.ones(WIDTH, numpy.float32)
    writer.add_tensor("token_embd.weight", tokens)
    writer.add_tensor("output.weight", said)
    writer.add_tensor("output_norm.weight", ones)
    for layer in range(LAYERS):
        block = f"blk.{layer}."
        writer.add_tensor(block + "attn_norm.weight", ones)
        writer.add_tensor(block + "ffn_norm.weight", ones)
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            writer.add_tensor(block + part + ".weight", noise(WIDTH, WIDTH))
        writer.add_tensor(block + "ffn_gate.weight", noise(INNER, WIDTH))
        writer.add_tensor(block + "ffn_up.weight", noise(INNER, WIDTH))
        writer.add_tensor(block + "ffn_down.weight", noise(WIDTH, INNER))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


main()
